//! Families of elections.

use core::fmt;
use core::time::Duration;

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

impl Family {
    /// Time after which a client whose session has this timeout shows that it lives: a third of it; where the store keeps
    /// a lease a sixth, since its clock goes on by no more than a quarter of a lease from call to call.
    #[must_use]
    pub fn ping_interval(self, timeout: Duration) -> Duration {
        match self {
            Self::Queue => timeout / 3,
            Self::Lease => timeout / 6,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Queue => "queue",
            Self::Lease => "lease",
        })
    }
}
