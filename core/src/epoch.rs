//! The order of terms.

/// Number of a term. Within one [`Incarnation`] of the store it rises strictly from term to term (promise P12).
///
/// On ZooKeeper it is the `mzxid` of the write that claimed the term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Epoch(pub u64);

/// The life of the store to which an epoch belongs: a random number written when the term record is created.
///
/// A store that was restarted empty counts its revisions from the start, so epochs of two incarnations do not compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Incarnation(pub u64);

/// Fencing token of a term. A leader's requests carry it, and their receivers compare it (promise P14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Fence {
    /// Life of the store in which the term was claimed.
    pub incarnation: Incarnation,
    /// Number of the term within that life.
    pub epoch: Epoch,
}

impl Fence {
    /// True if this fence belongs to a newer term than `other`; never across incarnations.
    #[must_use]
    pub fn is_newer_than(self, other: Self) -> bool {
        self.incarnation == other.incarnation && self.epoch > other.epoch
    }
}
