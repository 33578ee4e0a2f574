//! `rolecall exec` as processes, with programs that lock a file while they run and keep a journal of it.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::process::{binary, until_still};
use crate::wait::until;

/// Folder that the programs of one test share.
#[derive(Debug)]
pub struct Stage {
    folder: TempDir,
}

/// Program that holds the lock, by a descriptor that all its descendants inherit, notes its start and its end with the time in
/// nanoseconds, and runs until SIGTERM. A program that finds the lock taken notes `overlap`.
const PROGRAM: &str = r#"#!/bin/sh
cd "$STAGE"
exec 9>>lock
note() { echo "$1 $NAME $ROLECALL_ROLE $ROLECALL_EPOCH $$ $(date +%s%N)" >>journal; }
flock -n 9 || { note overlap; exit 99; }
note start
trap 'note stop; exit 0' TERM
trap 'note usr1' USR1
[ -z "$PRELUDE" ] || eval "$PRELUDE"
while :; do sleep 1000 & wait $!; done
"#;

/// Line of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// `start`, `stop`, `usr1`, `overlap`, or the word of a prelude.
    pub what: String,
    /// Name of the member.
    pub name: String,
    /// Role of the program.
    pub role: String,
    /// Epoch of the program.
    pub epoch: Option<u64>,
    /// Process id of the program.
    pub process: i32,
    /// Time in nanoseconds.
    pub at: u64,
}

impl Stage {
    /// Makes a stage whose journal is empty.
    ///
    /// # Panics
    /// If there is no room for its files.
    #[must_use]
    pub fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let program = folder.path().join("program");
        let mut file = OpenOptions::new().write(true).create_new(true).open(&program).expect("a new folder");
        file.write_all(PROGRAM.as_bytes()).expect("a new folder can be written");
        File::create(folder.path().join("journal")).expect("a new folder can be written");
        Self { folder }
    }

    /// Words that run the program.
    #[must_use]
    pub fn program(&self) -> String {
        format!("/bin/sh {}", self.path("program").display())
    }

    /// Path of a file of the stage.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The journal so far.
    ///
    /// # Panics
    /// If it holds something else.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        let text = fs::read_to_string(self.path("journal")).expect("the journal can be read");
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        whole.lines().map(|line| note(line).unwrap_or_else(|| panic!("no note: {line:?}"))).collect()
    }

    /// Waits until the programs of a member have noted `what` so many times, and returns the last such note. Nothing may ever
    /// overlap.
    ///
    /// # Panics
    /// If that does not happen in time, or two programs ran at the same time.
    pub async fn until_noted(&self, what: &str, name: &str, times: usize) -> Note {
        until(&format!("{what} {name}, {times} times"), async || {
            let notes = self.notes();
            assert!(notes.iter().all(|note| note.what != "overlap"), "two programs ran at the same time: {notes:#?}");
            notes.into_iter().filter(|note| note.what == what && note.name == name).nth(times - 1)
        })
        .await
    }

    /// A command that runs `rolecall exec` for the member `name`, with a session of `session`.
    #[must_use]
    pub fn command(&self, name: &str, store: &str, session: &str) -> Command {
        let mut command = Command::new(binary());
        command.args(["exec", "--store", store, "--id", name, "--session-timeout", session]);
        command.args(if store.starts_with("zookeeper") { &["--store-tick", "100ms"][..] } else { &[] });
        command.env("STAGE", self.folder.path()).env("NAME", name).env("RUST_LOG", "info");
        command.stdin(Stdio::null());
        command
    }

    /// Starts `command`, whose log is kept.
    ///
    /// # Panics
    /// If it can't be started.
    #[must_use]
    pub fn start(&self, name: &str, mut command: Command) -> Supervised {
        let log = self.path(&format!("log-{name}"));
        let file = OpenOptions::new().append(true).create(true).open(&log).expect("the stage can be written");
        let child = command.stderr(file).spawn().expect("the binary was built");
        Supervised { child, name: name.to_owned(), log }
    }
}

impl Default for Stage {
    fn default() -> Self {
        Self::new()
    }
}

fn note(line: &str) -> Option<Note> {
    let words: Vec<&str> = line.split(' ').collect();
    let [what, name, role, epoch, process, at] = words[..] else { return None };
    Some(Note {
        what: what.to_owned(),
        name: name.to_owned(),
        role: role.to_owned(),
        epoch: if epoch.is_empty() { None } else { Some(epoch.parse().ok()?) },
        process: process.parse().ok()?,
        at: at.parse().ok()?,
    })
}

/// One `rolecall exec`. Killed when dropped, and its guard then ends its program.
#[derive(Debug)]
pub struct Supervised {
    child: Child,
    /// Name of the member.
    pub name: String,
    log: PathBuf,
}

impl Supervised {
    /// Its process id.
    ///
    /// # Panics
    /// Never: a process has one.
    #[must_use]
    pub fn process(&self) -> i32 {
        i32::try_from(self.child.id()).expect("process ids are small")
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        send(self.process(), signal);
    }

    /// Sends SIGSTOP, and waits until the process stands still.
    pub async fn pause(&self) {
        self.signal(Signal::STOP);
        until_still(self.child.id()).await;
    }

    /// Process id of its guard.
    pub async fn guard(&self) -> i32 {
        let own = self.process();
        until("a guard", async || children(own).into_iter().find(|child| cmdline(*child).contains("exec-guard"))).await
    }

    /// Waits for the end of the process. Returns its exit code.
    ///
    /// # Panics
    /// If it does not end in time, or is ended by a signal.
    pub async fn exit_code(&mut self) -> i32 {
        let (name, child) = (self.name.clone(), &mut self.child);
        let status = until(&format!("{name} to end"), || {
            let status = child.try_wait().expect("it is a child");
            async move { status }
        })
        .await;
        status.code().unwrap_or_else(|| panic!("{name} ended by a signal: {status}"))
    }

    /// The log so far.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- log of {}\n{}", self.name, self.log());
        }
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process of the test.
///
/// # Panics
/// If there is no such process.
pub fn send(process: i32, signal: Signal) {
    kill_process(Pid::from_raw(process).expect("a process id"), signal).expect("it lives, or was not waited for");
}

/// True while a process lives. A zombie does not.
#[must_use]
pub fn is_alive(process: i32) -> bool {
    stat(process).is_some_and(|(state, _)| state != 'Z')
}

/// Children of a process.
#[must_use]
pub fn children(process: i32) -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    processes.filter(|child| stat(*child).is_some_and(|(_, parent)| parent == process)).collect()
}

/// State and parent of a process (proc(5)).
fn stat(process: i32) -> Option<(char, i32)> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = line.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn cmdline(process: i32) -> String {
    let words = fs::read(Path::new("/proc").join(process.to_string()).join("cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).into_owned()
}
