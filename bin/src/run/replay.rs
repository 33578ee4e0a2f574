//! `rolecall replay`: a recorded journal through the core again.

use rolecall::journal::{ReplayError, Replayed};

use crate::cli::{Failure, Replay, print};

/// Runs the journal through the core again and compares every action.
///
/// # Errors
/// [`Failure::Usage`] for what is no journal, [`Failure::Failed`] where the core does something else than was recorded.
pub fn replay(options: &Replay) -> Result<(), Failure> {
    let unreadable = |error: &dyn core::fmt::Display| {
        Failure::Usage(format!("{error}; accepted is a file or a folder that a node wrote with --journal"))
    };
    let records = rolecall::journal::read(&options.journal).map_err(|error| unreadable(&error))?;
    match rolecall::journal::replay(records) {
        Ok(Replayed { starts: 0, gaps: 0, steps: 0, .. }) => {
            Err(unreadable(&format_args!("{}: there is no line in it", options.journal.display())))
        }
        Ok(replayed) => print(&told(&replayed)),
        Err(error @ (ReplayError::Journal(_) | ReplayError::NoState { .. })) => Err(unreadable(&error)),
        Err(error @ (ReplayError::StateDiffers { .. } | ReplayError::ActionsDiffer { .. })) => {
            Err(Failure::Failed(error.to_string()))
        }
    }
}

fn told(replayed: &Replayed) -> String {
    let Replayed { steps, starts, gaps, dropped } = replayed;
    let mut told = format!("{steps} steps since {starts} starts of the node: every action is the same\n");
    if *gaps > 0 {
        told.push_str(&format!("{gaps} gaps, with {dropped} lines missing since the last start, were passed over\n"));
    }
    told
}
