//! The reasons of a node's wakes.

/// Reason of a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Timer {
    /// An answer is overdue.
    Answer,
    /// A refused request is sent again.
    Retry,
    /// The leader's heartbeat is due.
    Beat,
    /// The validity of the term ends.
    Validity,
    /// A lease that somebody else held may be over.
    Look,
    /// Everything is read again.
    Relist,
    /// A service has taken too long to start or to stop.
    Service,
    /// A leader that resigned may stand again.
    HoldOff,
    /// The entry under this node's id is read again.
    Identity,
    /// A node that is stuck or untidy may start afresh again.
    FreshStart,
    /// The store has denied the settings for too long.
    Settings,
    /// The limit of the shutdown.
    Shutdown,
}
