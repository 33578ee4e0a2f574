//! Sessions with the store, and the ids of operations in them.

/// The store's number of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Session(pub u64);

impl Session {
    /// The owner of entries that no session owns.
    pub const NOBODY: Self = Self(0);
}

/// Generation of the connection. It rises with every session-up, suspension and loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Link(pub u32);

/// The purpose of an operation. At most one operation is pending in each slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Slot {
    /// Standing in the election: enter, list, inspect, claim.
    Election,
    /// Deleting unwanted candidates.
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
    /// The wish of an operator.
    Wish,
}

/// Id of one operation. Its answer and its notices echo it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct OpId {
    /// The connection on which it was sent.
    pub link: Link,
    /// Purpose.
    pub slot: Slot,
    /// Number, counted through all operations of a node.
    pub sequence: u32,
}
