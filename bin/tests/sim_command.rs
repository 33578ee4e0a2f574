//! `rolecall sim` with the real binary: its output and its exit codes.

use std::error::Error;
use std::fs;
use std::process::{Command, Output};

type TestResult = Result<(), Box<dyn Error>>;

fn sim(arguments: &[&str]) -> std::io::Result<Output> {
    // Start it as a user does, not as cargo does.
    Command::new(env!("CARGO_BIN_EXE_rolecall")).env_remove("CARGO").arg("sim").args(arguments).output()
}

#[test]
fn a_campaign_has_a_summary_and_a_report_that_needs_no_other_file() -> TestResult {
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
fn a_report_names_the_command_as_the_user_would_type_it() -> TestResult {
    let folder = tempfile::tempdir()?;
    let report = folder.path().join("run.html");
    let arguments = ["sim", "--seeds", "5", "--faults", "none", "--length", "1s", "--report"];
    let output =
        Command::new(env!("CARGO_BIN_EXE_rolecall")).env("CARGO", "cargo").args(arguments).arg(&report).output()?;

    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let command = "\"cargo sim --seeds 5 --nodes 3 --faults none --length 1s\"";
    assert!(fs::read_to_string(report)?.contains(command), "`{command}` in the report");
    Ok(())
}

#[test]
fn unknown_faults_are_refused_with_those_that_are_known() -> TestResult {
    let output = sim(&["--faults", "crash,earthquake"])?;
    let told = String::from_utf8(output.stderr)?;

    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("--faults") && told.contains("`earthquake`") && told.contains("power-loss"), "{told}");
    Ok(())
}

#[test]
fn faults_that_the_family_of_the_election_does_not_have_are_refused_with_those_that_it_has() -> TestResult {
    for (arguments, parts) in [
        (&["--faults", "crash,clock"][..], &["--faults", "`clock`", "--election queue", "cut"][..]),
        (&["--election", "lease", "--faults", "cut"], &["--faults", "`cut`", "--election lease", "clock", "none"]),
    ] {
        let output = sim(arguments)?;
        let told = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        for part in parts {
            assert!(told.contains(part), "`{part}` in: {told}");
        }
    }
    Ok(())
}

#[test]
fn elections_by_a_lease_are_simulated_and_the_command_that_repeats_a_run_names_them() -> TestResult {
    let folder = tempfile::tempdir()?;
    let report = folder.path().join("run.html");
    let path = report.to_str().ok_or("a path of text")?;
    for application in ["sums", "search", "register"] {
        let arguments = ["--application", application, "--election", "lease", "--seeds", "0..1", "--length", "20s"];
        let output = sim(&[&arguments[..], &["--faults", "clock,crash,data-loss", "--report", path]].concat())?;
        let told = String::from_utf8(output.stdout)?;

        assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
        for part in ["2 runs of 3 nodes, which elect by a lease", "clock", "violations  none"] {
            assert!(told.contains(part), "`{part}` in:\n{told}");
        }
        let command = "--election lease --seeds 0 --nodes 3 --faults crash,data-loss,clock --length 20s";
        assert!(fs::read_to_string(&report)?.contains(command), "`{command}` in the report");
    }
    Ok(())
}

#[test]
fn a_campaign_that_has_more_seeds_than_memory_ends_with_3_and_says_how_to_give_it_more() -> TestResult {
    // This is less than the program itself takes.
    let output = sim(&["--seeds", "0..999999", "--length", "5s", "--memory", "1MiB"])?;
    let (told, complaint) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);

    assert_eq!(output.status.code(), Some(3), "{told}{complaint}");
    assert!(told.contains("violations  none"), "{told}");
    assert!(complaint.contains("--memory 2MiB"), "{complaint}");
    Ok(())
}

#[test]
fn elections_are_compared_in_one_table_which_is_the_same_each_time() -> TestResult {
    let compare = || sim(&["--compare", "--seeds", "0..7", "--nodes", "5"]);
    let output = compare()?;
    let told = String::from_utf8(output.stdout.clone())?;

    assert!(output.status.success() && output.stderr.is_empty(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    let line = |name: &str| told.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(line("queue").contains("never"), "{told}");
    for name in ["bully", "ring", "raft", "naive-lease"] {
        assert!(line(name).contains(" s ") && !line(name).contains("never"), "{told}");
    }
    assert_eq!(output.stdout, compare()?.stdout);
    Ok(())
}

#[test]
fn the_first_seed_with_two_leaders_is_drawn() -> TestResult {
    let folder = tempfile::tempdir()?;
    let report = folder.path().join("bully.html");
    let path = report.to_str().ok_or("a path of text")?;
    let arguments =
        ["--compare", "--election", "bully", "--seeds", "0..9", "--nodes", "5", "--faults", "pause", "--report", path];
    let output = sim(&arguments)?;
    let told = String::from_utf8(output.stdout)?;

    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("the first with two leaders") && told.contains(path) && !told.contains("raft"), "{told}");
    let page = fs::read_to_string(report)?;
    for part in ["two nodes lead", "stands still", "rolecall sim --compare --election bully --seeds"] {
        assert!(page.contains(part), "`{part}` in the report");
    }
    Ok(())
}

#[test]
fn a_comparison_says_what_it_accepts() -> TestResult {
    for (arguments, parts) in [
        (&["--compare", "--election", "oligarchy"][..], &["--election", "`oligarchy`", "queue, lease, bully"][..]),
        (&["--compare", "--faults", "earthquake"], &["--faults", "`earthquake`", "partition", "none"]),
        (&["--compare", "--report", "all.html"], &["--election"]),
        (&["--election", "bully"], &["--election", "`queue`", "`lease`", "--compare"]),
        (&["--compare", "--application", "search"], &["--application", "--compare"]),
    ] {
        let output = sim(arguments)?;
        let told = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        for part in parts {
            assert!(told.contains(part), "`{part}` in: {told}");
        }
    }
    Ok(())
}

#[test]
fn the_exit_code_of_an_exploration_tells_how_it_ended() -> TestResult {
    let check = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_rolecall")).env_remove("CARGO").arg("check").args(arguments).output()
    };
    let complete = check(&["--nodes", "2", "--faults", "cut"])?;
    assert_eq!(complete.status.code(), Some(0));
    assert!(String::from_utf8(complete.stdout)?.contains("every state was explored, every promise holds"));

    let cut_short = check(&["--memory", "64MiB"])?;
    let (told, complaint) = (String::from_utf8(cut_short.stdout)?, String::from_utf8(cut_short.stderr)?);
    assert_eq!(cut_short.status.code(), Some(3), "{told}{complaint}");
    assert!(told.contains("every promise holds in all states to depth"), "{told}");
    assert!(complaint.contains("in 64.0 MiB of memory") && complaint.contains("--memory 128MiB"), "{complaint}");
    Ok(())
}

#[test]
fn an_exploration_elects_by_either_family_and_says_what_it_accepts() -> TestResult {
    let check = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_rolecall")).env_remove("CARGO").arg("check").args(arguments).output()
    };
    for (election, more) in [
        ("queue", &["--nodes", "1", "--faults", "candidate"][..]),
        ("lease", &["--nodes", "1", "--faults", "resign,lapse"]),
        ("lease", &["--nodes", "2", "--timed", "--faults", "clock"]),
    ] {
        let output = check(&[&["--election", election], more].concat())?;
        let (told, begun) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
        assert_eq!(output.status.code(), Some(0), "{told}{begun}");
        assert!(told.contains("every state was explored, every promise holds"), "{told}");
        assert!(begun.contains(&format!("elect by a {election}")), "{begun}");
    }
    for (arguments, parts) in [
        (&["--election", "oligarchy"][..], &["--election", "'oligarchy'", "queue, lease"][..]),
        (&["--election", "lease", "--faults", "candidate"], &["--faults", "`candidate`", "--election lease", "lapse"]),
        (&["--faults", "lapse"], &["--faults", "`lapse`", "--election queue", "candidate"]),
        (
            &["--election", "lease", "--timed", "--faults", "server"],
            &["`server`", "--election lease", "with --timed", "clock"],
        ),
    ] {
        let output = check(arguments)?;
        let told = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        for part in parts {
            assert!(told.contains(part), "`{part}` in: {told}");
        }
    }
    Ok(())
}
