//! How a node ends.

use core::fmt;
use std::sync::Arc;

use rolecall_core::{Objection, Violation};

/// How a node ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// In good order, after a shutdown.
    Exited,
    /// It refused to go on with its configuration.
    Refused(Objection),
    /// The cluster was set up otherwise than this node.
    SettingsDiffer {
        /// What this node was told.
        ours: Arc<str>,
        /// What its first node wrote.
        theirs: Arc<str>,
    },
    /// A promise was violated.
    Halted(Violation),
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited => formatter.write_str("ended in good order"),
            Self::Refused(Objection::IdentityTaken { address }) => {
                write!(formatter, "another live node, at {address}, has this node's id: give one of them another")
            }
            Self::Refused(Objection::NoValidity { timeout_ms, margin_ms }) => write!(
                formatter,
                "the store grants sessions of {timeout_ms} ms, and {margin_ms} ms of that have to be set aside: too \
                 little is left to lead; ask for a longer session timeout, or say what the store's tick is"
            ),
            Self::SettingsDiffer { ours, theirs } => {
                write!(
                    formatter,
                    "this cluster was set up with {theirs}, and this node with {ours}: they have to be the same"
                )
            }
            Self::Halted(violation) => write!(formatter, "halted: a promise does not hold: {violation}"),
        }
    }
}
