//! The process between the guard and the program, which it becomes.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal, setsid};

use super::words::{CANNOT_RUN, NOT_FOUND, Words};

/// Becomes the program that the rest of `arguments` names; the first is the process id of the guard.
///
/// It runs in a session of its own, so that no signal of a terminal reaches it, and it dies with the guard.
pub(crate) fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let guard = arguments.next().and_then(|guard| Pid::from_raw(guard.to_str()?.parse().ok()?));
    let (Some(guard), Some(words)) = (guard, Words::exact(arguments.collect())) else {
        return refuse(2, "rolecall exec starts this command itself");
    };
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return refuse(CANNOT_RUN, &format!("no signal can be set for the death of the guard: {error}"));
    }
    // The guard may have died before the signal was set.
    if getppid() != Some(guard) {
        return refuse(CANNOT_RUN, "the guard is gone");
    }
    if let Err(error) = setsid() {
        return refuse(CANNOT_RUN, &format!("no session of its own for {}: {error}", words.program.display()));
    }
    let error = Command::new(&words.program).args(&words.arguments).exec();
    let code = if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN };
    refuse(code, &format!("cannot run {}: {error}", words.program.display()))
}

fn refuse(code: u8, told: &str) -> ExitCode {
    // If standard error is closed, the exit code is all that is left.
    drop(writeln!(io::stderr(), "rolecall: {told}"));
    ExitCode::from(code)
}
