//! The unit for systemd, judged by `systemd-analyze`, and its configuration by `rolecall`.

use std::fs;
use std::process::Command;

use rolecall_tests::process::binary;
use tempfile::TempDir;

use super::{file, quiet, read};

/// Greatest exposure that is accepted, in tenths, as `systemd-analyze security` counts: up to 10 is unsafe, and 2 is what it
/// calls OK.
const EXPOSURE: &str = "20";

#[test]
fn systemd_accepts_the_unit_and_calls_it_safe() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path().join("rolecall.service");
    let installed = "ExecStart=/usr/bin/rolecall ";
    let unit = read(&file("systemd/rolecall.service"));
    assert!(unit.contains(installed), "{unit}");
    let unit = unit.replace(installed, &format!("ExecStart={} ", binary().display()));
    fs::write(&path, unit).expect("a new folder can be written");

    quiet(Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&path));
    let mut security = Command::new("systemd-analyze");
    quiet(security.args(["security", "--offline=true", "--no-pager", "--threshold", EXPOSURE]).arg(&path));
}

#[test]
fn the_example_of_a_configuration_is_accepted() {
    let path = file("systemd/rolecall.toml");
    quiet(Command::new(binary()).args(["node", "--help", "--config"]).arg(&path));
    for option in ["store", "documents", "id", "listen", "advertise", "data"] {
        assert!(read(&path).contains(&format!("\n{option} = ")), "{option}");
    }
}
