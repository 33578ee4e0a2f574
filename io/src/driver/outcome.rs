//! Outcome of a node.

use core::fmt;

use rolecall_core::{Objection, Violation};

/// Way in which a node ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The node ended in good order, after a shutdown.
    Exited,
    /// The node refused to go on with its configuration.
    Refused(Objection),
    /// A promise was violated.
    Halted(Violation),
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited => formatter.write_str("ended in good order"),
            Self::Refused(objection) => objection.fmt(formatter),
            Self::Halted(violation) => write!(formatter, "halted because a promise was violated: {violation}"),
        }
    }
}
