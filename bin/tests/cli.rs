//! Command line of the real binary: refusals, their messages and their exit codes.

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

type Outcome = Result<(), Box<dyn Error>>;

const NODE: [&str; 5] = ["node", "--store", "memory:", "--documents", "."];

fn rolecall() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rolecall"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ROLECALL_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// Message of a refused call, which must print nothing on standard output, exactly one line on standard error, and end with
/// exit code 2.
fn refusal(output: &Output) -> Result<String, Box<dyn Error>> {
    let told = String::from_utf8(output.stderr.clone())?;
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(output.stdout.is_empty(), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.starts_with("rolecall: "), "{told}");
    Ok(told)
}

#[test]
fn every_bad_flag_is_refused_with_its_name_its_value_and_what_is_accepted() -> Outcome {
    let cases: &[(&[&str], &[&str])] = &[
        (&["--session-timeout", "10"], &["--session-timeout", "'10'", "500ms, 10s"]),
        (&["--session-timeout", "0s"], &["--session-timeout", "'0s'", "more than zero"]),
        (&["--drain-timeout=-5s"], &["--drain-timeout", "'-5s'", "500ms, 10s"]),
        (&["--store-tick", "fast"], &["--store-tick", "'fast'", "500ms, 10s"]),
        (&["--clock-error", "1"], &["--clock-error", "'1'", "0% to 10%"]),
        (&["--clock-error", "50%"], &["--clock-error", "'50%'", "0% to 10%"]),
        (&["--on-suspend", "panic"], &["--on-suspend", "'panic'", "hold, step-down"]),
        (&["--ranking", "bm52"], &["--ranking", "'bm52'", "bm25", "tfidf"]),
        (&["--shards", "0"], &["--shards", "'0'", "from 1 to 4096"]),
        (&["--shards", "many"], &["--shards", "'many'"]),
        (&["--listen", "8080"], &["--listen", "'8080'", "HOST:PORT"]),
        (&["--listen", "localhost:99999"], &["--listen", "'localhost:99999'", "HOST:PORT"]),
        (&["--advertise", "http://a:1"], &["--advertise", "'http://a:1'", "HOST:PORT"]),
        (&["--allowed-host", "a.example:80"], &["--allowed-host", "'a.example:80'", "without a port"]),
        (&["--id", "a/b"], &["--id", "'a/b'", "A-Z a-z 0-9"]),
        (&["--id", ""], &["--id", "''", "1 to 100"]),
        (&["--cluster", "../x"], &["--cluster", "'../x'", "A-Z a-z 0-9"]),
        (&["--log-format", "xml"], &["--log-format", "'xml'", "text, json"]),
        (&["--documnets", "x"], &["--documnets", "--documents"]),
        (&["--shards", "1", "--shards", "2"], &["--shards", "cannot be used multiple times"]),
        (&["surplus"], &["surplus"]),
    ];
    for (flags, expected) in cases {
        let told = refusal(&rolecall().args(NODE).args(*flags).output()?)?;
        for part in *expected {
            assert!(told.contains(part), "{flags:?}: {part:?} is not in {told:?}");
        }
    }
    Ok(())
}

#[test]
fn every_bad_call_is_refused_with_what_is_missing_or_not_known() -> Outcome {
    let cases: &[(&[&str], &[&str])] = &[
        (&[], &["a command is missing", "--help"]),
        (&["nod"], &["nod", "node"]),
        (&["help-me"], &["help-me"]),
        (&["node"], &["--store <URL>", "--documents <DIR>", "not provided"]),
        (&["node", "--store", "memory:"], &["--documents <DIR>"]),
        (&["node", "--store"], &["--store <URL>", "value is required"]),
        (&["status"], &["--store <URL>"]),
        (
            &["status", "--store", "zk://a:1"],
            &["--store", "'zk://a:1'", "zookeeper://", "redis://", "etcd://", "memory:"],
        ),
        (&["status", "--store", "zookeeper://"], &["--store", "'zookeeper://'", "no host", "host:port"]),
        (&["status", "--store", "zookeeper://a:1//x"], &["--store", "chroot", "an empty part"]),
        (&["handover", "--store", "memory:"], &["--to <ID>"]),
        (&["demo", "--nodes", "0"], &["--nodes", "'0'", "1..=20"]),
        (&["demo", "--nodes", "three"], &["--nodes", "'three'"]),
        (&["demo", "--port", "70000"], &["--port", "'70000'"]),
        (&["replay"], &["<JOURNAL>"]),
        (&["exec", "--store", "memory:"], &["--leader <CMD>"]),
        (&["sim", "--seeds", "5..1"], &["--seeds", "'5..1'", "range"]),
        (&["check", "--minutes", "0"], &["--minutes", "'0'"]),
    ];
    for (words, expected) in cases {
        let told = refusal(&rolecall().args(*words).output()?)?;
        assert!(!told.contains("secret"), "{told}");
        for part in *expected {
            assert!(told.contains(part), "{words:?}: {part:?} is not in {told:?}");
        }
    }
    Ok(())
}

#[test]
fn options_that_do_not_fit_together_are_refused_with_the_numbers() -> Outcome {
    let cases: &[(&[&str], &[&str])] = &[
        (&["--session-timeout", "10ms"], &["--session-timeout 10 ms", "ms of it are reserved", "expected at least"]),
        (
            &["--store-tick", "20s"],
            &["--session-timeout 10000 ms", "11110 ms", "half a tick", "expected at least 12671 ms"],
        ),
        (&["--listen", "0.0.0.0:0"], &["--listen 0.0.0.0:0", "--advertise HOST:PORT"]),
        (&["--listen", "[::]:0"], &["--listen [::]:0", "--advertise HOST:PORT"]),
        (
            &["--listen", "0.0.0.0:0", "--advertise", "a.example:80"],
            &["--listen 0.0.0.0:0", "--cluster-token FILE", "--insecure"],
        ),
        (&["--cluster-token", "/nowhere/token"], &["--cluster-token /nowhere/token", "a file that can be read"]),
        (&["--cluster-token", "/dev/null"], &["--cluster-token /dev/null", "0 bytes", "at least 16"]),
        (&["--advertise", "0.0.0.0:80"], &["--advertise 0.0.0.0:80", "others can connect to"]),
        (&["--advertise", "localhost:0"], &["--advertise localhost:0", "others can connect to"]),
    ];
    for (flags, expected) in cases {
        let told = refusal(&rolecall().args(NODE).args(*flags).output()?)?;
        for part in *expected {
            assert!(told.contains(part), "{flags:?}: {part:?} is not in {told:?}");
        }
    }
    let told = refusal(&rolecall().args(["status", "--store", "memory:"]).output()?)?;
    assert!(told.contains("--store memory:"), "{told}");
    Ok(())
}

#[test]
fn what_is_no_journal_is_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    let junk = folder.path().join("junk.jsonl");
    fs::write(&junk, "{}\n{}\n")?;
    let empty = folder.path().join("empty.jsonl");
    fs::write(&empty, "")?;
    for path in [folder.path().join("missing"), junk, empty] {
        let told = refusal(&rolecall().arg("replay").arg(&path).output()?)?;
        assert_eq!(told.matches(&path.display().to_string()).count(), 1, "{told}");
        assert!(told.contains("--journal"), "{told}");
    }
    Ok(())
}

#[test]
fn a_damaged_line_of_a_journal_fails_with_its_place_and_how_far_the_replay_came() -> Outcome {
    let folder = tempfile::tempdir()?;
    let journal = folder.path().join("journal-1.jsonl");
    let header = r#"{"journal":1,"core":"0.1.0","family":"queue"}"#;
    fs::write(&journal, format!("{header}\n{{\"step\":{{\"at\":\n{header}\n"))?;
    let output = rolecall().arg("replay").arg(folder.path()).output()?;
    let told = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(1), "{told}");
    for part in [&format!("{}:2: ", journal.display()), "damaged", "0 earlier steps were replayed", "Restore"] {
        assert!(told.contains(part), "{part:?} is not in {told:?}");
    }

    fs::write(&journal, header.replace(":1,", ":7,") + "\n")?;
    let told = refusal(&rolecall().arg("replay").arg(&journal).output()?)?;
    assert!(told.contains("version 7") && told.contains("reads version 1"), "{told}");
    Ok(())
}

#[test]
fn a_data_folder_that_cannot_be_written_or_is_in_use_is_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("file");
    fs::write(&file, "")?;
    let used = folder.path().join("used");
    fs::create_dir(&used)?;
    let lock = fs::File::create(used.join(".lock"))?;
    lock.lock()?;
    for (data, reason) in [(&file, "File exists"), (&used, "another process uses it")] {
        let call = |words: &[&str]| rolecall().args(words).arg("--data").arg(data).output();
        for words in [&["node", "--store", "memory:", "--documents", ".", "--listen", "127.0.0.1:0"][..], &["demo"]] {
            let told = refusal(&call(words)?)?;
            assert!(told.contains(&format!("--data {}", data.display())) && told.contains(reason), "{told}");
        }
    }
    Ok(())
}

#[test]
fn an_address_that_is_taken_is_a_failure_at_run_time() -> Outcome {
    let taken = std::net::TcpListener::bind("127.0.0.1:0")?;
    let data = tempfile::tempdir()?;
    let output = rolecall()
        .args(NODE)
        .args(["--id", "a", "--listen", &taken.local_addr()?.to_string(), "--data"])
        .arg(data.path())
        .output()?;
    let told = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains(&taken.local_addr()?.to_string()), "{told}");
    Ok(())
}

#[test]
fn a_node_that_is_told_to_end_ends_in_good_order() -> Outcome {
    for signal in [Signal::TERM, Signal::INT] {
        let (texts, data) = (tempfile::tempdir()?, tempfile::tempdir()?);
        let mut node = rolecall()
            .args(["node", "--store", "memory:", "--id", "a", "--listen", "127.0.0.1:0", "--documents"])
            .arg(texts.path())
            .arg("--data")
            .arg(data.path())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(node.stdout.take().ok_or("the output is piped")?).lines();
        let begun = lines.next().ok_or("a node tells where it answers")??;
        assert!(
            begun.starts_with("a of cluster default, memory:, over ") && begun.contains("http://127.0.0.1:"),
            "{begun}"
        );
        let leads = lines.next().ok_or("a node that is alone leads")??;
        assert!(leads.starts_with("a leads, epoch "), "{leads}");
        kill_process(Pid::from_child(&node), signal)?;
        assert_eq!(node.wait()?.code(), Some(0));
    }
    Ok(())
}

#[test]
fn nodes_with_generated_ids_leave_one_folder_behind_however_many_are_killed() -> Outcome {
    let (texts, cache) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let named = cache.path().join("rolecall/default/a");
    fs::create_dir_all(&named)?;
    fs::write(named.join(".lock"), "")?;
    let start = || -> Result<_, Box<dyn Error>> {
        let mut node = rolecall()
            .args(["node", "--store", "memory:", "--listen", "127.0.0.1:0", "--documents"])
            .arg(texts.path())
            .env("XDG_CACHE_HOME", cache.path())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = node.stdout.take().ok_or("the output is piped")?;
        BufReader::new(output).lines().next().ok_or("a node tells where it answers")??;
        Ok(node)
    };
    let generated = cache.path().join("rolecall/default/+generated");
    let folders =
        || fs::read_dir(&generated).map(|entries| entries.flatten().filter(|entry| entry.path().is_dir()).count());

    let mut living = start()?;
    for _ in 0..4 {
        let mut killed = start()?;
        assert_eq!(folders()?, 2, "one of each living node");
        killed.kill()?;
        killed.wait()?;
    }
    living.kill()?;
    living.wait()?;

    assert_eq!(folders()?, 2, "those of the last two");
    let mut last = start()?;
    assert_eq!(folders()?, 1);
    last.kill()?;
    last.wait()?;
    assert!(named.is_dir(), "a folder of a name that somebody chose stays");
    Ok(())
}

#[test]
fn the_environment_is_held_to_the_same_rules() -> Outcome {
    let told = refusal(&rolecall().args(NODE).env("ROLECALL_SESSION_TIMEOUT", "soon").output()?)?;
    assert!(told.contains("--session-timeout") && told.contains("'soon'"), "{told}");
    assert!(told.contains("ROLECALL_SESSION_TIMEOUT: "), "{told}");
    let told =
        refusal(&rolecall().args(NODE).args(["--shards", "many"]).env("ROLECALL_SESSION_TIMEOUT", "3s").output()?)?;
    assert!(told.contains("--shards") && !told.contains("ROLECALL_"), "{told}");
    Ok(())
}

#[test]
fn a_misspelt_variable_is_refused_with_its_neighbour_and_help_is_given_all_the_same() -> Outcome {
    let call = |words: &[&str]| rolecall().args(words).env("ROLECALL_SESION_TIMEOUT", "3s").output();
    let told = refusal(&call(&NODE)?)?;
    assert!(told.contains("ROLECALL_SESION_TIMEOUT: unknown") && told.contains(" ROLECALL_SESSION_TIMEOUT"), "{told}");
    assert!(call(&["node", "--help"])?.status.success());
    Ok(())
}

#[test]
fn variables_that_kubernetes_sets_for_a_service_of_our_name_are_ignored_with_one_line() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("a-file");
    fs::write(&file, "")?;
    let call = |port: &str| {
        let mut demo = rolecall();
        demo.args(["demo", "--documents"]).arg(folder.path()).arg("--data").arg(&file);
        demo.env("ROLECALL_PORT", port).env("ROLECALL_SERVICE_HOST", "10.0.0.1").env("ROLECALL_SERVICE_PORT", "80");
        demo.output()
    };
    let told = refusal(&call("http")?)?;
    assert!(told.contains("ROLECALL_PORT: ") && told.contains("'http'"), "{told}");

    let told = String::from_utf8(call("tcp://10.0.0.1:80")?.stderr)?;
    let lines: Vec<&str> = told.lines().filter(|line| line.contains("Kubernetes")).collect();
    assert_eq!(lines.len(), 1, "{told}");
    assert!(lines[0].contains("ROLECALL_PORT, ROLECALL_SERVICE_HOST, ROLECALL_SERVICE_PORT;"), "{told}");
    assert!(told.contains("a-file") && !told.contains("--port"), "the next mistake is told: {told}");
    Ok(())
}

#[test]
fn a_mistake_in_the_environment_is_not_blamed_on_the_file() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("rolecall.toml");
    fs::write(&path, "cluster = 'docs'\nshards = 8\n")?;
    let told = refusal(&rolecall().args(NODE).arg("--config").arg(&path).env("ROLECALL_SHARDS", "many").output()?)?;
    assert!(told.contains("ROLECALL_SHARDS: ") && told.contains("'many'"), "{told}");
    assert!(!told.contains("rolecall.toml"), "{told}");
    Ok(())
}

#[test]
fn a_file_is_refused_with_the_line_that_is_wrong() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("rolecall.toml");
    let cases: &[(&str, &[&str])] = &[
        ("shards = 8\nsesion-timeout = '1s'\n", &["rolecall.toml:2:", "sesion-timeout", "nearest", "session-timeout"]),
        ("\n\nsession-timeout = 'soon'\n", &["rolecall.toml:3:", "--session-timeout", "'soon'", "500ms, 10s"]),
        ("shards = 0\n", &["rolecall.toml:1:", "--shards", "'0'"]),
        ("store = ['a', 'b']\n", &["rolecall.toml:1:", "store", "a string, a whole number, true or false"]),
        ("log-format = 'xml'\n", &["rolecall.toml:1:", "--log-format", "text, json"]),
        ("store = \n", &["rolecall.toml:1:", "not TOML"]),
    ];
    for (text, expected) in cases {
        fs::write(&path, text)?;
        let told = refusal(&rolecall().args(NODE).arg("--config").arg(&path).output()?)?;
        for part in *expected {
            assert!(told.contains(part), "{text:?}: {part:?} is not in {told:?}");
        }
    }
    let told = refusal(&rolecall().args(NODE).arg("--config").arg(folder.path().join("missing.toml")).output()?)?;
    assert!(told.contains("--config") && told.contains("missing.toml"), "{told}");
    Ok(())
}

/// Host of the store that a call ends up with. There is no adapter for it, so the refusal names it.
fn store_of(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let told = refusal(&command.output()?)?;
    assert!(told.contains("not built in this version"), "{told}");
    let host = |host: &&str| told.contains(&format!("etcd://{host}:"));
    Ok(["file", "environment", "flag"].into_iter().find(host).unwrap_or("none").to_owned())
}

#[test]
fn flags_win_over_the_environment_and_the_environment_over_the_file() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("rolecall.toml");
    fs::write(&path, "store = 'etcd://file:2379'\nnodes = 5\n")?;
    let call = |path: &Path| {
        let mut command = rolecall();
        command.arg("status").env("ROLECALL_CONFIG", path);
        command
    };
    assert_eq!(store_of(&mut call(&path))?, "file");
    assert_eq!(store_of(call(&path).env("ROLECALL_STORE", "etcd://environment:2379"))?, "environment");
    let flag = ["--store", "etcd://flag:2379"];
    assert_eq!(store_of(call(&path).env("ROLECALL_STORE", "etcd://environment:2379").args(flag))?, "flag");
    assert_eq!(store_of(rolecall().args(["status", "--config"]).arg(&path))?, "file");
    let word = format!("--config={}", path.display());
    assert_eq!(store_of(rolecall().args(["status", &word]))?, "file");
    Ok(())
}

#[test]
fn what_this_version_lacks_is_known_all_the_same() -> Outcome {
    let developers: &[&[&str]] = &[
        &["sim", "--seeds", "1..10", "--nodes", "3", "--faults", "cut,crash", "--minutes", "1", "--report", "x.html"],
        &["check", "--nodes", "2"],
    ];
    let developers = if cfg!(feature = "sim") { &[] } else { developers };
    let calls: &[&[&str]] =
        &[&["handover", "--to", "b", "--store", "zookeeper://a:1"], &["status", "--store", "etcd://a:2379"]];
    for words in calls.iter().chain(developers) {
        let told = refusal(&rolecall().args(*words).output()?)?;
        assert!(told.contains("not built in this version"), "{words:?}: {told}");
    }
    Ok(())
}

#[test]
fn a_leader_on_the_embedded_store_is_not_asked_from_outside() -> Outcome {
    let told = refusal(&rolecall().args(["resign", "--store", "memory:"]).output()?)?;
    assert!(told.contains("--store memory:") && told.contains("SIGTERM"), "{told}");
    let told = refusal(&rolecall().args(["resign", "--store", "zookeeper://a:1", "--timeout", "0s"]).output()?)?;
    assert!(told.contains("--timeout") && told.contains("more than zero"), "{told}");
    Ok(())
}

#[test]
fn every_command_explains_itself_with_examples() -> Outcome {
    for command in
        ["demo", "node", "status", "resign", "handover", "sim", "check", "replay", "exec", "completions", "man"]
    {
        let output = rolecall().args([command, "--help"]).output()?;
        assert_eq!(rolecall().args(["help", command]).output()?.stdout, output.stdout, "{command}");
        let text = String::from_utf8(output.stdout)?;
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert!(text.contains("Usage:") && text.contains("Example"), "{command}: {text}");
        assert!(text.contains(&format!("\n  rolecall {command}")), "{command}: {text}");
    }
    let version = rolecall().arg("--version").output()?;
    assert_eq!(String::from_utf8(version.stdout)?, format!("rolecall {}\n", env!("CARGO_PKG_VERSION")));
    Ok(())
}

#[test]
fn a_reader_that_goes_away_is_no_failure() -> Outcome {
    let (reader, writer) = std::io::pipe()?;
    drop(reader);
    let output = rolecall().arg("--help").stdout(writer).output()?;
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
