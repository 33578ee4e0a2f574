//! Files for people who install Rolecall: each is checked by its own tool, and against the real binary.

use std::path::Path;
use std::process::{Command, Output};

mod completions;
mod container;
mod dashboard;
mod kubernetes;
mod manual;
mod supervision;
mod unit;

/// Runs a command that must succeed and say nothing on standard error. Returns its output.
fn quiet(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; to install it: bash .ci/setup"));
    let Output { status, stdout, stderr } = output;
    let (told, complaint) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success() && complaint.trim().is_empty(), "{command:?}: {status}\n{told}{complaint}");
    told.into_owned()
}

/// The commands of `rolecall`, as its help lists them.
fn commands() -> Vec<String> {
    let help = quiet(Command::new(rolecall_tests::process::binary()).arg("--help"));
    let list = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a list of commands");
    // A command's name stands after two spaces; further lines of its description are indented by more.
    let names = list.lines().filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    names.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// A file under `packaging`.
fn file(path: &str) -> std::path::PathBuf {
    rolecall_tests::tools::repository().join("packaging").join(path)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
