//! Families of elections.

use core::fmt;

/// Family of an election: how a store keeps its candidates. A store has one, and a node of the other cannot use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Family {
    /// A queue of candidates that live as long as their sessions (ZooKeeper, the embedded store).
    Queue,
    /// A lease with a time to live (Redis, the embedded store).
    Lease,
}

impl fmt::Display for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Queue => "queue",
            Self::Lease => "lease",
        })
    }
}
