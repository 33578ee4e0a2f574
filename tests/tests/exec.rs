//! `rolecall exec` on real stores: never do the programs of two members run at the same time, whoever is stopped or killed.

use core::time::Duration;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use rolecall_tests::command::{Stage, Supervised, children, is_alive, send};
use rolecall_tests::ports;
use rolecall_tests::process::binary;
use rolecall_tests::redis::RedisServer;
use rolecall_tests::wait::until;
use rolecall_tests::zookeeper::ZooKeeperServer;
use rustix::process::Signal;
use serde_json::Value;

const SESSION: &str = "4s";

async fn zookeeper() -> ZooKeeperServer {
    ZooKeeperServer::start().await.unwrap_or_else(|error| panic!("{error}"))
}

async fn redis() -> RedisServer {
    RedisServer::start().await.unwrap_or_else(|error| panic!("{error}"))
}

/// Members of one election whose leader runs the program of the stage.
struct Members {
    stage: Stage,
    store: String,
    running: BTreeMap<&'static str, Supervised>,
}

impl Members {
    fn new(store: &str) -> Self {
        Self { stage: Stage::new(), store: store.to_owned(), running: BTreeMap::new() }
    }

    fn begin(&mut self, name: &'static str, mut command: Command, prelude: &str) {
        command.env("PRELUDE", prelude);
        self.running.insert(name, self.stage.start(name, command));
    }

    fn start(&mut self, name: &'static str) {
        self.start_with(name, "", &[]);
    }

    /// Starts a member whose program runs the shell text `prelude` first.
    fn start_with(&mut self, name: &'static str, prelude: &str, options: &[&str]) {
        let mut command = self.stage.command(name, &self.store, SESSION);
        command.args(["--leader", &self.stage.program()]).args(options);
        self.begin(name, command, prelude);
    }

    async fn until_starts(&self, name: &str, times: usize) -> i32 {
        self.stage.until_noted("start", name, times).await.process
    }

    /// Waits until a member waits for its turn.
    async fn until_joined(&self, name: &str) {
        until(&format!("{name} to be a member"), async || {
            self.running[name].log().contains("is a member of").then_some(())
        })
        .await;
    }

    /// Starts two members, of which the first leads.
    async fn pair(store: &str, prelude: &str, options: &[&str]) -> (Self, i32) {
        let mut members = Self::new(store);
        members.start_with("a", prelude, options);
        let program = members.until_starts("a", 1).await;
        members.start("b");
        members.until_joined("b").await;
        (members, program)
    }
}

async fn a_program_ends_with_a_rolecall_that_is_killed(store: &str) {
    let (members, program) = Members::pair(store, "", &[]).await;
    members.running["a"].signal(Signal::KILL);
    members.stage.until_noted("stop", "a", 1).await;
    until("the program to be gone", async || (!is_alive(program)).then_some(())).await;
    members.until_starts("b", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_zookeeper_a_program_ends_with_a_rolecall_that_is_killed() {
    a_program_ends_with_a_rolecall_that_is_killed(&zookeeper().await.url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_redis_a_program_ends_with_a_rolecall_that_is_killed() {
    a_program_ends_with_a_rolecall_that_is_killed(&redis().await.url()).await;
}

/// The program ignores SIGTERM, so that only a kill ends it.
async fn a_program_ends_in_time_though_its_rolecall_is_stopped(store: &str) {
    let (members, program) = Members::pair(store, "trap '' TERM", &[]).await;
    members.running["a"].pause().await;
    members.until_starts("b", 1).await;
    assert!(!is_alive(program), "the next program has started, and the last one lives");
    members.running["a"].signal(Signal::CONT);
    // It takes its place in the queue again.
    members.running["b"].signal(Signal::TERM);
    members.until_starts("a", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_zookeeper_a_program_ends_in_time_though_its_rolecall_is_stopped() {
    a_program_ends_in_time_though_its_rolecall_is_stopped(&zookeeper().await.url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_redis_a_program_ends_in_time_though_its_rolecall_is_stopped() {
    a_program_ends_in_time_though_its_rolecall_is_stopped(&redis().await.url()).await;
}

/// A process that has left its parent, its group and its session, and ignores SIGTERM, holds the lock.
const DAEMON: &str = "setsid sh -c 'trap \"\" TERM; sleep 1000 & wait' & sleep 0.2";

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_a_program_has_made_is_gone_before_the_next_program_starts() {
    let server = redis().await;
    for end in [Signal::TERM, Signal::KILL] {
        let (members, program) = Members::pair(&server.url(), DAEMON, &[]).await;
        if end == Signal::TERM {
            // The command is asked to end.
            members.running["a"].signal(end);
        } else {
            // The program dies, and leaves the daemon.
            send(program, end);
        }
        members.until_starts("b", 1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_that_is_stopped_is_killed_with_its_program_when_the_term_ends() {
    let mut server = zookeeper().await;
    let mut members = Members::new(&server.url());
    members.start("a");
    let program = members.until_starts("a", 1).await;
    let guard = members.running["a"].guard().await;
    send(guard, Signal::STOP);
    server.kill();
    until("guard and program to be gone", async || (!is_alive(guard) && !is_alive(program)).then_some(())).await;
    server.restart().await.unwrap_or_else(|error| panic!("{error}"));
    members.until_starts("a", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_that_is_killed_takes_everything_with_it_and_the_lead_is_given_up() {
    let server = redis().await;
    let (members, program) = Members::pair(&server.url(), DAEMON, &[]).await;
    send(members.running["a"].guard().await, Signal::KILL);
    members.until_starts("b", 1).await;
    assert!(!is_alive(program));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_dies_gives_the_lead_up_and_its_member_comes_back_later() {
    let server = zookeeper().await;
    let (members, program) = Members::pair(&server.url(), "", &[]).await;
    send(program, Signal::KILL);
    members.until_starts("b", 1).await;
    // It has rested, and waits for its next turn.
    members.running["b"].signal(Signal::TERM);
    members.until_starts("a", 2).await;
    assert!(members.running["a"].log().contains("was ended by signal 9"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_runs_while_its_member_does_not_lead_and_never_beside_the_leaders_program() {
    let server = zookeeper().await;
    let mut members = Members::new(&server.url());
    let worker = members.stage.program();
    members.start("a");
    members.until_starts("a", 1).await;
    // Workers have a lock of their own: in a folder of their own.
    let workers = Stage::new();
    let mut command = workers.command("w", &members.store, SESSION);
    command.args(["--leader", &worker, "--worker", &workers.program()]);
    let both = workers.start("w", command);
    let first = workers.until_noted("start", "w", 1).await;
    assert_eq!(first.role, "worker");
    members.running["a"].signal(Signal::TERM);
    // The leader's program has the worker's stage, and so the worker's lock.
    let second = workers.until_noted("start", "w", 2).await;
    assert_eq!(second.role, "leader");
    assert!(second.epoch > first.epoch && !is_alive(first.process), "{first:?} {second:?}");
    drop(both);
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_are_passed_on_and_the_files_are_kept_current() {
    let server = zookeeper().await;
    let copy = r#"echo "$ROLECALL_TERM_FILE" >term; echo "$ROLECALL_MEMBERS_FILE" >members; note told"#;
    let (members, _) = Members::pair(&server.url(), copy, &["--advertise", "a.example:80"]).await;
    members.stage.until_noted("told", "a", 1).await;
    members.running["a"].signal(Signal::USR1);
    members.stage.until_noted("usr1", "a", 1).await;

    let read = |name: &str| {
        let path = std::fs::read_to_string(members.stage.path(name)).expect("it was written before the note");
        let text = std::fs::read_to_string(path.trim_end()).unwrap_or_else(|error| panic!("{path}: {error}"));
        serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    let end = |term: &Value| term["valid_until_boottime_ms"].as_u64().expect("a leader's term has an end");
    let first = read("term");
    assert_eq!(first["role"], "leader");
    until("the term to be renewed", async || (end(&read("term")) > end(&first)).then_some(())).await;
    let both = until("both members to be listed", async || {
        let listed = read("members");
        let is_whole = listed["members"].as_array()?.len() == 2 && listed["leader"]["id"] == "a";
        is_whole.then_some(listed)
    })
    .await;
    assert_eq!(both["leader"]["address"], "a.example:80");
    assert_eq!(both["id"], "a");

    let folder = std::fs::read_to_string(members.stage.path("term")).expect("it was written");
    members.running["a"].signal(Signal::KILL);
    members.stage.until_noted("stop", "a", 1).await;
    let is_gone = || !std::path::Path::new(folder.trim_end()).exists();
    until("the guard to remove the files", async || is_gone().then_some(())).await;
}

/// Runs `rolecall exec` on the embedded store to its end, and returns its exit code and what it said.
async fn outcome(options: &[&str]) -> (Option<i32>, String) {
    let mut command = tokio::process::Command::new(binary());
    command.args(["exec", "--store", "memory:"]).args(options).stdin(Stdio::null());
    let output = command.output().await.expect("the binary was built");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_codes_tell_what_happened() {
    let closed = format!("redis://127.0.0.1:{}", ports::free());
    let cases: &[(&[&str], i32)] = &[
        (&["--once", "--leader", "true"], 0),
        (&["--once", "--leader", "sh -c 'exit 3'"], 3),
        (&["--once", "--", "sh", "-c", "exit 4"], 4),
        (&["--once", "--leader", "sh", "--worker", "sleep", "1000"], 0),
        (&["--once", "--leader", "sh -c 'kill -9 $$'"], 137),
        (&["--leader", "no-such-program"], 127),
        (&["--leader", "/etc/passwd"], 126),
        (&["--leader", "true", "--worker", "no-such-program"], 127),
        (&["--leader", "'open"], 2),
        (&["--leader", "true", "--", "true"], 2),
        (&["--leader", "true", "--grace", "1m"], 2),
        (&["--on-lead", "true", "--on-end", "true", "--hook-timeout", "1m"], 2),
    ];
    for (options, code) in cases {
        let (ended, told) = outcome(options).await;
        assert_eq!(ended, Some(*code), "{options:?}: {told}");
    }
    let mut command = tokio::process::Command::new(binary());
    command.args(["exec", "--store", &closed, "--leader", "true"]);
    let output = command.output().await.expect("the binary was built");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "a store that is not there: {told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_the_command_in_good_order_and_a_second_one_without_a_grace() {
    let server = redis().await;
    for (options, prelude, signals, code) in [
        (&[][..], "", 1, 0),
        (&["--once"], "trap 'note stop; exit 7' TERM", 1, 7),
        (&[], "trap 'note stop' TERM", 2, 0),
    ] {
        let mut members = Members::new(&server.url());
        let program = members.stage.program();
        let mut command = members.stage.command("a", &members.store, SESSION);
        command.args(options).args(["--leader", &program]);
        members.begin("a", command, prelude);
        members.until_starts("a", 1).await;
        let mut ending = members.running.remove("a").expect("it was started");
        ending.signal(Signal::TERM);
        members.stage.until_noted("stop", "a", 1).await;
        if signals == 2 {
            ending.signal(Signal::INT);
        }
        assert_eq!(ending.exit_code().await, code, "{}", ending.log());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_runs_once_ends_when_the_lead_is_lost() {
    let server = redis().await;
    let (mut members, _) = Members::pair(&server.url(), "", &["--once"]).await;
    let mut once = members.running.remove("a").expect("it was started");
    once.pause().await;
    members.until_starts("b", 1).await;
    once.signal(Signal::CONT);
    assert_eq!(once.exit_code().await, 75, "{}", once.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn as_the_first_process_of_a_container_it_reaps_what_others_leave() {
    let stage = Stage::new();
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"]).arg(binary());
    command
        .args(["exec", "--store", "memory:", "--leader", &stage.program()])
        .env("STAGE", stage.path(""))
        .env("NAME", "a");
    command.env("PRELUDE", "(sh -c 'sleep 0.1 & :' & :); note told").env("RUST_LOG", "info").stdin(Stdio::null());
    let outer = stage.start("a", command);
    stage.until_noted("told", "a", 1).await;
    let first = until("the first process", async || children(outer.process()).first().copied()).await;
    let guard = until("its guard", async || children(first).first().copied()).await;
    until("only the program to be left", async || {
        let left = children(guard);
        (left.len() == 1 && left.iter().all(|process| is_alive(*process))).then_some(())
    })
    .await;
    send(first, Signal::TERM);
    stage.until_noted("stop", "a", 1).await;
    until("the container to end", async || (!is_alive(first)).then_some(())).await;
}

/// Hooks of a member, which note that they ran. The one at the end takes a while, and finds the lock free.
fn hooks(members: &Members, name: &str) -> Command {
    let note = |what: &str, first: &str| {
        let line = format!("{what} $NAME $ROLECALL_ROLE $ROLECALL_EPOCH $$ $(date +%s%N)");
        format!("sh -c 'cd $STAGE && {first} && echo \"{line}\" >>journal'")
    };
    let mut command = members.stage.command(name, &members.store, SESSION);
    command.args(["--on-lead", &note("lead", "flock -n lock true"), "--on-follow", &note("follow", "true")]);
    command.args(["--on-end", &note("end", "flock -n lock true && sleep 0.1")]);
    command.args(["--hook-timeout", "1s"]);
    command
}

async fn hooks_run_at_the_beginning_and_at_the_end_of_each_term(store: &str) {
    let mut members = Members::new(store);
    let mut command = hooks(&members, "a");
    command.args(["--leader", &members.stage.program()]);
    members.begin("a", command, "");
    members.until_starts("a", 1).await;
    members.begin("b", hooks(&members, "b"), "");
    members.stage.until_noted("follow", "b", 1).await;
    // The guard of the first runs its last hook.
    members.running["a"].signal(Signal::KILL);
    members.stage.until_noted("lead", "b", 1).await;
    members.running["b"].signal(Signal::TERM);
    let last = members.running.get_mut("b").expect("it was started");
    assert_eq!(last.exit_code().await, 0);
    let told: Vec<String> =
        members.stage.notes().into_iter().map(|note| format!("{} {}", note.what, note.name)).collect();
    let of = |name: &str| told.iter().filter(|told| told.ends_with(name)).map(String::as_str).collect::<Vec<_>>();
    // It may have followed before it first led.
    assert!(of("a").ends_with(&["lead a", "start a", "stop a", "end a"]), "{told:?}");
    assert!(of("b").ends_with(&["lead b", "end b"]), "{told:?}");
    let place = |what: &str| told.iter().position(|told| told == what);
    assert!(place("end a") < place("lead b"), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn on_zookeeper_hooks_run_at_the_beginning_and_at_the_end_of_each_term() {
    hooks_run_at_the_beginning_and_at_the_end_of_each_term(&zookeeper().await.url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_redis_hooks_run_at_the_beginning_and_at_the_end_of_each_term() {
    hooks_run_at_the_beginning_and_at_the_end_of_each_term(&redis().await.url()).await;
}

/// Time from the death of a leader's program to the start of the next one. Nothing asserts it; it is printed.
#[tokio::test(flavor = "multi_thread")]
async fn the_next_program_starts_soon_after_the_last_one_has_died() {
    const ROUNDS: usize = 10;
    let server = zookeeper().await;
    let mut members = Members::new(&server.url());
    let mut times = Vec::new();
    members.start("a");
    let mut program = members.until_starts("a", 1).await;
    for round in 1..=ROUNDS {
        let next = if round % 2 == 1 { "b" } else { "a" };
        if let Some(mut former) = members.running.remove(next) {
            former.signal(Signal::TERM);
            former.exit_code().await;
        }
        std::fs::remove_file(members.stage.path(&format!("log-{next}"))).ok();
        members.start(next);
        members.until_joined(next).await;
        let seen = members.stage.notes().into_iter().filter(|note| note.what == "start" && note.name == next).count();
        let killed = SystemTime::UNIX_EPOCH.elapsed().expect("it is later than 1970");
        send(program, Signal::KILL);
        let note = members.stage.until_noted("start", next, seen + 1).await;
        times.push(Duration::from_nanos(note.at).saturating_sub(killed));
        program = note.process;
    }
    times.sort_unstable();
    eprintln!("from the death of a program to the start of the next: median {:?}, of {times:?}", times[ROUNDS / 2]);
}
