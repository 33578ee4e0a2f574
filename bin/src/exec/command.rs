//! The command from its membership to its exit code.

use core::time::Duration;
use std::io;

use rolecall::{Election, Outcome};
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::driver::Driver;
use super::supervisor::Verdict;
use super::{Limits, Roles, descendants};
use crate::cli::LogFormat;

/// Member of an election, with what it runs.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) election: Election,
    pub(crate) roles: Roles,
    pub(crate) limits: Limits,
    /// Session timeout that was asked for.
    pub(crate) session_timeout: Duration,
    /// True if the end of the leader's program ends the command.
    pub(crate) is_once: bool,
    /// Format of the guards' logs.
    pub(crate) format: LogFormat,
}

/// End of the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    /// With this exit code.
    Code(u8),
    /// With the exit code that says that the lead was lost.
    Lost(u8),
    /// With that of a node that has ended in this way; `None` if it crashed.
    Ended(Option<Outcome>),
}

/// Runs programs according to the role of `member`, until a signal ends the command or its program has run once.
///
/// # Errors
/// If the listeners for signals or the adoption of descendants cannot be set up.
pub(crate) async fn supervise(member: Member, signals: &mut mpsc::UnboundedReceiver<u8>) -> io::Result<Finish> {
    descendants::adopt()?;
    let mut children = signal(SignalKind::child())?;
    let mut driver = Driver::new(&member);
    let verdict = driver.run(signals, &mut children).await;
    drop(driver);
    let code = verdict.code(member.is_once);
    let outcome = match verdict {
        Verdict::Left => member.election.observer().ended().await,
        Verdict::Ended(_) | Verdict::Lost | Verdict::Signaled(_) => tokio::select! {
            outcome = member.election.leave() => Some(outcome),
            // The session ends by its timeout.
            () = hurried(signals) => Some(Outcome::Exited),
        },
    };
    Ok(match (outcome, verdict) {
        (Some(Outcome::Exited), Verdict::Lost) => Finish::Lost(code),
        (Some(Outcome::Exited), Verdict::Ended(_) | Verdict::Signaled(_) | Verdict::Left) => Finish::Code(code),
        (outcome @ (Some(Outcome::Refused(_) | Outcome::Halted(_)) | None), _) => Finish::Ended(outcome),
    })
}

/// Waits for a signal that asks the command to end.
async fn hurried(signals: &mut mpsc::UnboundedReceiver<u8>) {
    while let Some(number) = signals.recv().await {
        if is_end(number) {
            return;
        }
    }
}

/// True for the signals that end the command. The others are passed on.
pub(super) fn is_end(number: u8) -> bool {
    [Signal::TERM, Signal::INT].map(Signal::as_raw).contains(&i32::from(number))
}
