//! Completions, read by the shells that they are for.

use std::fs;
use std::process::Command;

use rolecall_tests::process::binary;
use tempfile::TempDir;

use super::{commands, quiet};

/// The completions for a shell, in a file.
fn script(folder: &TempDir, shell: &str) -> String {
    let text = quiet(Command::new(binary()).args(["completions", shell]));
    for command in commands() {
        assert!(text.contains(&command), "{shell} is not told of {command}");
    }
    let path = folder.path().join(shell);
    fs::write(&path, text).expect("a new folder can be written");
    path.display().to_string()
}

#[test]
fn bash_completes_an_option() {
    let folder = TempDir::new().expect("a temporary folder");
    let script = script(&folder, "bash");
    quiet(Command::new("bash").args(["-n", &script]));
    let ask = format!(
        "source {script}; COMP_WORDS=(rolecall node --store-); COMP_CWORD=2; _rolecall rolecall --store- node; \
         echo \"${{COMPREPLY[@]}}\""
    );
    assert_eq!(quiet(Command::new("bash").args(["--norc", "-c", &ask])).trim(), "--store-tick");
}

#[test]
fn zsh_reads_the_completions() {
    let folder = TempDir::new().expect("a temporary folder");
    let script = script(&folder, "zsh");
    quiet(Command::new("zsh").args(["-f", "-n", &script]));
    let ask = format!("autoload -U compinit; compinit -D -u; source {script}; whence -w _rolecall");
    assert_eq!(quiet(Command::new("zsh").args(["-f", "-c", &ask])).trim(), "_rolecall: function");
}

#[test]
fn fish_completes_an_option() {
    let folder = TempDir::new().expect("a temporary folder");
    let script = script(&folder, "fish");
    let ask = format!("source {script}; complete --do-complete 'rolecall node --store-'");
    let told = quiet(Command::new("fish").args(["--no-config", "-c", &ask]).env("HOME", folder.path()));
    assert!(told.starts_with("--store-tick\t") && told.lines().count() == 1, "{told}");
}
