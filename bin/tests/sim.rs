//! `rolecall sim` on the real binary: what it tells, and how it ends.

use std::error::Error;
use std::fs;
use std::process::{Command, Output};

type Outcome = Result<(), Box<dyn Error>>;

fn sim(arguments: &[&str]) -> std::io::Result<Output> {
    // As a user starts it, not as cargo does.
    Command::new(env!("CARGO_BIN_EXE_rolecall")).env_remove("CARGO").arg("sim").args(arguments).output()
}

#[test]
fn a_campaign_is_summed_up_and_its_report_stands_alone() -> Outcome {
    let folder = tempfile::tempdir()?;
    let report = folder.path().join("run.html");
    let path = report.to_str().ok_or("a path of text")?;

    let arguments = ["--seeds", "0..3", "--faults", "crash,partition", "--length", "20s", "--report", path];
    let output = sim(&arguments)?;
    let told = String::from_utf8(output.stdout)?;

    assert!(output.status.success() && output.stderr.is_empty(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    for part in ["4 runs of 3 nodes", "faster than real time", "crash", "violations  none", path] {
        assert!(told.contains(part), "`{part}` in:\n{told}");
    }
    let page = fs::read_to_string(report)?;
    for part in ["<svg", "\"seed\":0", "rolecall sim --seeds 0 --nodes 3 --faults crash,partition --length 20s"] {
        assert!(page.contains(part), "`{part}` in the report");
    }
    assert!(!page.contains("src=") && !page.contains("href="), "it needs no other file");
    Ok(())
}

#[test]
fn unknown_faults_are_refused_with_those_that_are_known() -> Outcome {
    let output = sim(&["--faults", "crash,earthquake"])?;
    let told = String::from_utf8(output.stderr)?;

    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("--faults") && told.contains("`earthquake`") && told.contains("power-loss"), "{told}");
    Ok(())
}
