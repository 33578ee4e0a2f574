//! Prints the roles of a node on the terminal.

use rolecall::{Objection, Observer, Outcome, Role};

use crate::cli::{Failure, print};

/// Prints each change of the node's role, until the node ends.
pub(super) async fn follow(name: String, observer: Observer) {
    let mut told = Role::None;
    while let Some(status) = observer.until(|status| status.role != told).await {
        told = status.role;
        let line = match (told, observer.term()) {
            (Role::Leader, Some((fence, _))) => format!("{name} leads, epoch {}\n", fence.epoch.0),
            (Role::Leader, None) => continue,
            (Role::Worker, _) => format!("{name} is a worker\n"),
            (Role::None, _) => format!("{name} has no role\n"),
        };
        // If the reader has gone, stop printing. The node goes on.
        if print(&line).is_err() {
            return;
        }
    }
}

/// Translates the outcome of a node into that of the command.
pub(super) fn end(outcome: &Outcome) -> Result<(), Failure> {
    match outcome {
        Outcome::Exited => Ok(()),
        Outcome::Refused(Objection::SettingsDiffer { .. }) => {
            Err(Failure::Usage(format!("--shards, --ranking: {outcome}")))
        }
        Outcome::Refused(_) => Err(Failure::Failed(outcome.to_string())),
        Outcome::Halted(violation) => Err(Failure::Halted(violation.to_string())),
    }
}
