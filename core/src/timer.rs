//! Why a node wants to be woken.

/// The reason of a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Timer {
    /// An answer is overdue.
    Answer,
    /// Something that was refused is tried again.
    Retry,
    /// The leader's heartbeat is due.
    Beat,
    /// The validity of the term ends.
    Validity,
    /// Everything is read again.
    Relist,
    /// A service has taken too long to start or to stop.
    Service,
    /// A leader that resigned may stand again.
    HoldOff,
    /// The entry under this node's id is looked at again.
    Identity,
    /// A node that is stuck or untidy may start afresh again.
    FreshStart,
    /// The store has denied the settings for too long.
    Settings,
    /// The limit of the shutdown.
    Shutdown,
}
