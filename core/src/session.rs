//! Sessions with the store, and the names of operations within them.

/// The store's number of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Session(pub u64);

impl Session {
    /// The owner of what no session owns.
    pub const NOBODY: Self = Self(0);
}

/// The generation of the connection: it rises with every session-up, suspension and loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Link(pub u32);

/// What an operation is for; at most one is pending in each slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Slot {
    /// Standing in the election: enter, list, inspect, claim.
    Election,
    /// Deleting what stands in the election and should not be there.
    Sweep,
    /// The leader's heartbeat.
    Beat,
    /// Reading the term record.
    Term,
    /// This node's own entry in a directory.
    Membership(crate::Directory),
    /// The mirror of a directory.
    Mirror(crate::Directory),
    /// Agreement on the settings of the whole cluster.
    Settings,
}

/// The name of one operation; its answer and its notices echo it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct OpId {
    /// The connection on which it was sent.
    pub link: Link,
    /// What it is for.
    pub slot: Slot,
    /// Counts the operations of a node.
    pub sequence: u32,
}
