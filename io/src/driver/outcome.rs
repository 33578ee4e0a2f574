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
            Self::Refused(Objection::IdentityTaken { address }) => {
                write!(
                    formatter,
                    "another live node, at {address}, has the same id as this node: give one of them another id"
                )
            }
            Self::Refused(Objection::NoValidity { timeout_ms, margin_ms }) => write!(
                formatter,
                "the store grants sessions of {timeout_ms} ms, of which {margin_ms} ms are reserved: too little is left \
                 to lead; ask for a longer session timeout, or configure the store's tick"
            ),
            Self::Refused(Objection::SettingsDenied { limit_ms }) => write!(
                formatter,
                "the store has denied access to the settings of the cluster for {limit_ms} ms: allow this node to read and write \
                 them, or delete them if they are not text"
            ),
            Self::Refused(Objection::SettingsDiffer { ours, theirs }) => {
                write!(
                    formatter,
                    "this cluster uses {theirs}, but this node {ours}: start this node with the settings of the cluster"
                )
            }
            Self::Halted(violation) => write!(formatter, "halted because a promise was violated: {violation}"),
        }
    }
}
