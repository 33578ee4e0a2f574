//! Running a journal through the machine again.

use core::fmt;

use rolecall_core::{Action, Node};
use thiserror::Error;

use super::{JournalError, Place, Record};

/// Extent of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replayed {
    /// Steps whose actions came out the same.
    pub steps: u64,
    /// Starts of the node.
    pub starts: u64,
    /// Places where steps are missing.
    pub gaps: u64,
    /// Steps that are missing there.
    pub missing: u64,
    /// Steps that were read but not replayed, because earlier ones are missing.
    pub passed_over: u64,
}

/// Node that is being replayed.
enum Machine {
    /// No node, because steps since its start are missing.
    Unknown,
    Running {
        node: Box<Node>,
        /// Steps since its start.
        steps: u64,
    },
}

/// Runs `records` through the machine again and compares every action.
///
/// # Errors
/// If the journal cannot be read, or the machine of this version acts differently.
pub fn replay(records: impl IntoIterator<Item = Result<(Place, Record), JournalError>>) -> Result<Replayed, Stopped> {
    let mut replay = Replay { replayed: Replayed::default(), missing_before: 0, machine: Machine::Unknown };
    for record in records {
        let taken = record.map_err(ReplayError::from).and_then(|(place, record)| replay.take(place, record));
        if let Err(why) = taken {
            return Err(Stopped { replayed: replay.replayed, why: Box::new(why) });
        }
    }
    Ok(replay.replayed)
}

struct Replay {
    replayed: Replayed,
    /// Steps that gaps have reported missing since the node's start.
    missing_before: u64,
    machine: Machine,
}

impl Replay {
    fn take(&mut self, place: Place, record: Record) -> Result<(), ReplayError> {
        match record {
            Record::Start { config, .. } => {
                self.replayed.starts += 1;
                self.missing_before = 0;
                self.machine = Machine::Running { node: Box::new(Node::new(config.into())), steps: 0 };
            }
            Record::Continue { steps: before, .. } => match &self.machine {
                Machine::Running { steps, .. } if *steps == before => {}
                // A file before this one is gone.
                Machine::Running { steps, .. } => self.pass_over(before.saturating_sub(*steps)),
                Machine::Unknown if self.replayed == Replayed::default() => self.pass_over(before),
                Machine::Unknown => {}
            },
            Record::Gap { missing, .. } => {
                self.pass_over(missing.saturating_sub(self.missing_before));
                self.missing_before = missing;
            }
            Record::Step { at, event, actions: recorded } => match &mut self.machine {
                Machine::Unknown => self.replayed.passed_over += 1,
                Machine::Running { node, steps } => {
                    let mut actions = Vec::new();
                    node.handle(at, event, &mut actions);
                    if actions != recorded {
                        return Err(ReplayError::ActionsDiffer { place, recorded, replayed: actions });
                    }
                    *steps += 1;
                    self.replayed.steps += 1;
                }
            },
        }
        Ok(())
    }

    /// Forgets the node, of which nothing is known until it starts again.
    fn pass_over(&mut self, missing: u64) {
        self.replayed.gaps += 1;
        self.replayed.missing += missing;
        self.machine = Machine::Unknown;
    }
}

/// Early end of a replay.
#[derive(Debug, Error)]
pub struct Stopped {
    /// Extent of the replay up to there.
    pub replayed: Replayed,
    /// The reason.
    #[source]
    pub why: Box<ReplayError>,
}

impl fmt::Display for Stopped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; {} earlier steps were replayed and agree", self.why, self.replayed.steps)
    }
}

/// Reason why a replay ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The machine ordered something else.
    #[error("{place}: the machine orders {replayed:?} where {recorded:?} was recorded")]
    ActionsDiffer {
        /// Place of the step.
        place: Place,
        /// Actions that were ordered then.
        recorded: Vec<Action>,
        /// Actions that are ordered now.
        replayed: Vec<Action>,
    },
}
