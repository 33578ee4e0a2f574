//! Requests about the wish: what an operator asks of the leader of one term.

use alloc::boxed::Box;
use alloc::sync::Arc;

use super::Effect;
#[cfg(doc)]
use super::Refusal;
use crate::Fence;

/// A request about the one record of a wish that a cluster has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum WishRequest {
    /// Reads the record, after a sync. Answered by [`WishReply::Nobodys`], [`WishReply::Malformed`] or
    /// [`WishReply::Found`].
    Read {
        /// True to set a watch: one notice, when the record is created, written or deleted.
        watch: bool,
    },
    /// Writes the record if it is still as it was read. Answered by [`WishReply::Written`] or
    /// [`Refusal::Overtaken`].
    Write {
        /// The wish, with its answer if it has one.
        wish: Box<Wish>,
        /// Version of the record to overwrite; `None` to create it.
        over: Option<u64>,
    },
}

impl WishRequest {
    pub(super) const fn effect(&self) -> Effect {
        match self {
            Self::Read { .. } => Effect::FreshRead,
            Self::Write { .. } => Effect::Change,
        }
    }

    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Read { .. } => "read_wish",
            Self::Write { .. } => "write_wish",
        }
    }
}

/// Result of a request about the wish.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum WishReply {
    /// There is no record: nobody has ever wished for anything.
    Nobodys,
    /// Something that is not a wish stands in its place.
    Malformed {
        /// Version of the record.
        version: u64,
    },
    /// The record.
    Found {
        /// The wish.
        wish: Box<Wish>,
        /// Version of the record. No two writes of a record have the same, as long as nobody deletes it.
        version: u64,
    },
    /// Result of [`WishRequest::Write`].
    Written {
        /// Version of the record since this write.
        version: u64,
    },
}

/// An operator's wish. It concerns one term: a leader of another one leaves it alone, so it never acts later than it
/// was meant to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Wish {
    /// A random number by which its author knows it again.
    pub id: u64,
    /// What is wished for.
    pub aim: Aim,
    /// Fence of the term that it concerns.
    pub term: Fence,
    /// Who wishes it, for people.
    pub author: Arc<str>,
    /// The answer; `None` while the wish stands.
    pub verdict: Option<Verdict>,
}

/// What is wished of a leader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[non_exhaustive]
pub enum Aim {
    /// Let the next in line lead.
    Resign,
    /// Let this node lead.
    Handover {
        /// Id of the node.
        to: Arc<str>,
    },
}

/// What became of a wish.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[non_exhaustive]
pub enum Verdict {
    /// The leader ends the term that the wish concerns.
    Obeyed,
    /// The leader leads on.
    Refused {
        /// Reason, for people.
        reason: Arc<str>,
    },
    /// Its author waits for it no longer.
    Withdrawn,
}
