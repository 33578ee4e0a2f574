//! Running a journal through the machine again.

use rolecall_core::{Action, Node};
use thiserror::Error;

use super::{Cause, JournalError, Place, Record};

/// What a replay went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Steps whose actions came out the same.
    pub steps: u64,
    /// Starts of the node.
    pub starts: u64,
    /// Gaps, after which the replay went on from a recorded state.
    pub gaps: u64,
    /// Lines that are missing in the gaps since the last start.
    pub dropped: u64,
}

/// Runs `records` through the machine again and compares every action, and the state at each rotation.
///
/// # Errors
/// The journal can't be read, does not begin with a state, or the machine of this version does something else.
pub fn replay(
    records: impl IntoIterator<Item = Result<(Place, Record), JournalError>>,
) -> Result<Replayed, ReplayError> {
    let mut replayed = Replayed::default();
    let mut machine: Option<Node> = None;
    let mut actions = Vec::new();
    for record in records {
        let (place, record) = record?;
        match record {
            Record::State { cause, node, .. } => {
                match cause {
                    Cause::Start => {
                        replayed.starts += 1;
                        replayed.dropped = 0;
                    }
                    Cause::Rotation if machine.as_ref().is_some_and(|machine| *machine != *node) => {
                        return Err(ReplayError::StateDiffers { place });
                    }
                    Cause::Rotation => {}
                    Cause::Gap { dropped } => {
                        replayed.gaps += 1;
                        replayed.dropped = dropped;
                    }
                }
                machine = Some(*node);
            }
            Record::Step { at, event, actions: recorded } => {
                let Some(machine) = &mut machine else { return Err(ReplayError::NoState { place }) };
                actions.clear();
                machine.handle(at, event, &mut actions);
                if actions != recorded {
                    return Err(ReplayError::ActionsDiffer { place, recorded, replayed: actions });
                }
                replayed.steps += 1;
            }
        }
    }
    Ok(replayed)
}

/// Why a replay ended early.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The journal can't be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A step comes before any state.
    #[error("{place}: a step without a state before it: begin with the first line of a file")]
    NoState {
        /// Where.
        place: Place,
    },
    /// The machine did not come to the recorded state.
    #[error("{place}: the machine comes to another state than the one recorded here")]
    StateDiffers {
        /// Where.
        place: Place,
    },
    /// The machine ordered something else.
    #[error("{place}: the machine orders {replayed:?} where {recorded:?} was recorded")]
    ActionsDiffer {
        /// Where.
        place: Place,
        /// What was ordered then.
        recorded: Vec<Action>,
        /// What is ordered now.
        replayed: Vec<Action>,
    },
}
