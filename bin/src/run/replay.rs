//! `rolecall replay`: runs a recorded journal through the core again.

use rolecall::journal::{JournalError, ReplayError, Replayed, Stopped};

use crate::cli::{Failure, Replay, print};

/// Runs the journal through the core again and compares every action.
///
/// # Errors
/// [`Failure::Usage`] if the path holds no journal that this version reads. [`Failure::Failed`] if the core acts differently
/// from the record, if a line is damaged, or if nothing can be replayed.
pub fn replay(options: &Replay) -> Result<(), Failure> {
    let no_journal = |error: &dyn core::fmt::Display| {
        Failure::Usage(format!("{error}; expected a file or a folder that a node wrote with --journal"))
    };
    let records = rolecall::journal::read(&options.journal).map_err(|error| no_journal(&error))?;
    match rolecall::journal::replay(records) {
        Ok(Replayed { starts: 0, gaps: 0, steps: 0, passed_over: 0, .. }) => {
            Err(no_journal(&format_args!("{}: this journal is empty", options.journal.display())))
        }
        Ok(Replayed { starts: 0, passed_over, .. }) => Err(Failure::Failed(format!(
            "{}: none of {passed_over} steps can be replayed, because the node's start is in an earlier file; name the whole \
             folder, or a file that begins with a start",
            options.journal.display()
        ))),
        Ok(replayed) => print(&told(&replayed)),
        Err(stopped) => Err(match &*stopped.why {
            ReplayError::Journal(
                error @ (JournalError::NoJournal { .. } | JournalError::Version { .. } | JournalError::Empty { .. }),
            ) if stopped.replayed.steps == 0 => no_journal(error),
            ReplayError::Journal(JournalError::Malformed { .. }) => damaged(&stopped),
            // More reasons may come; each explains itself.
            ReplayError::Journal(_) | ReplayError::ActionsDiffer { .. } | _ => Failure::Failed(stopped.to_string()),
        }),
    }
}

fn damaged(stopped: &Stopped) -> Failure {
    Failure::Failed(format!(
        "{stopped}. The lines after it depend on it, up to the next start of the node. Restore the file from a copy, or replay the later \
         files on their own"
    ))
}

fn told(replayed: &Replayed) -> String {
    let Replayed { steps, starts, gaps, missing, passed_over, .. } = replayed;
    let mut told = format!("{steps} steps since {starts} starts of the node: every action is the same\n");
    if *gaps > 0 {
        told.push_str(&format!(
            "{missing} steps are missing in {gaps} gaps, and {passed_over} after them cannot be replayed\n"
        ));
    }
    told
}
