//! Manual pages, read by `man`.

use std::fs;
use std::process::Command;

use rolecall_tests::process::binary;
use tempfile::TempDir;

use super::{commands, quiet};

/// Page as a reader sees it. Whatever `man` warns of fails.
fn rendered(page: &str) -> String {
    let mut man = Command::new("man");
    man.args(["--warnings", "-E", "UTF-8", "-l", page]).env("MANWIDTH", "120").env("MANROFFSEQ", "");
    quiet(man.env("LC_ALL", "C.UTF-8").env("MAN_KEEP_FORMATTING", "").env_remove("MANPAGER").env("PAGER", "cat"))
}

#[test]
fn every_command_has_a_page_that_man_renders_without_a_warning() {
    let folder = TempDir::new().expect("a temporary folder");
    let pages = folder.path().join("man1");
    assert_eq!(quiet(Command::new(binary()).arg("man").arg(&pages)), "");
    let names = commands();
    for name in names.iter().map(|name| format!("rolecall-{name}")).chain(["rolecall".to_owned()]) {
        let page = pages.join(format!("{name}.1"));
        let text = rendered(&page.display().to_string());
        assert!(text.contains(&name) && text.contains("SYNOPSIS") && text.contains("OPTIONS"), "{text}");
        assert!(text.contains("MORE"), "{name} has examples: {text}");
    }
    assert_eq!(fs::read_dir(&pages).expect("it was made").count(), names.len() + 1);

    let text = rendered(&pages.join("rolecall-node.1").display().to_string());
    assert!(text.contains("--session-timeout") && text.contains("ROLECALL_STORE"), "{text}");
    let example = "\n         rolecall node --config /etc/rolecall.toml";
    assert!(text.contains(example), "an example keeps its line: {text}");
}

#[test]
fn without_a_folder_the_first_page_is_printed() {
    let page = quiet(Command::new(binary()).arg("man"));
    assert!(page.contains(".TH rolecall 1"), "{page}");
}
