//! What orders terms of leadership.

/// The number of a term. Within one [`Incarnation`] of the store it rises strictly from term to term (promise P12).
///
/// On ZooKeeper it is the `mzxid` of the write that claimed the term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Epoch(pub u64);

/// Which life of the store an epoch belongs to: a random number written when the term record is created.
///
/// A store that was restarted empty counts its revisions from the start, so epochs of two incarnations do not compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Incarnation(pub u64);

/// The fencing token of a term: what a request of a leader carries, and what its receivers compare (promise P14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Fence {
    /// The life of the store in which the term was claimed.
    pub incarnation: Incarnation,
    /// The term's number within that life.
    pub epoch: Epoch,
}

impl Fence {
    /// Whether this token proves a term that is newer than `other`; never across incarnations.
    #[must_use]
    pub fn is_newer_than(self, other: Self) -> bool {
        self.incarnation == other.incarnation && self.epoch > other.epoch
    }
}
