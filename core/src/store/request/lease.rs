//! Requests about the election by a lease.

use alloc::sync::Arc;
use core::time::Duration;

use super::Effect;
#[cfg(doc)]
use super::Refusal;
use crate::{Epoch, Fence, Incarnation, Session, Token};

/// A request about the election by a lease. Each is one transaction on the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum LeaseRequest {
    /// Reads the lease. Answered by [`LeaseReply::Free`], [`LeaseReply::Held`] or [`LeaseReply::Closed`].
    Peek {
        /// True to set a watch: one notice, when the lease is released. Notices are hints, and may be lost.
        watch: bool,
    },
    /// Takes the lease if it is free, raises the epoch and writes the term record. Answered by
    /// [`LeaseReply::Acquired`], [`LeaseReply::Held`] or [`LeaseReply::Closed`].
    Acquire {
        /// A token that was never used before.
        token: Token,
        /// Time to live of the lease, more than zero.
        ttl: Duration,
        /// A new random life of the store, which counts if the store has begun a new one.
        incarnation: Incarnation,
    },
    /// Prolongs the lease of this token, unless it has ended. Answered by [`LeaseReply::Renewed`] or
    /// [`Refusal::LeaseLost`].
    Renew {
        /// Token of the lease.
        token: Token,
        /// Time to live from now on, more than zero.
        ttl: Duration,
    },
    /// Gives up the lease of this token, and wakes those who watch. Answered by [`LeaseReply::Released`] or
    /// [`Refusal::LeaseLost`].
    Release {
        /// Token of the lease.
        token: Token,
    },
}

impl LeaseRequest {
    pub(super) const fn effect(&self) -> Effect {
        match self {
            Self::Peek { .. } => Effect::Read,
            Self::Acquire { .. } => Effect::Create,
            Self::Renew { .. } => Effect::Beat,
            Self::Release { .. } => Effect::Change,
        }
    }

    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Peek { .. } => "peek",
            Self::Acquire { .. } => "acquire",
            Self::Renew { .. } => "renew",
            Self::Release { .. } => "release",
        }
    }
}

/// Result of a request about the lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum LeaseReply {
    /// Nobody holds the lease.
    Free,
    /// Somebody holds it.
    Held(Holding),
    /// Nobody may hold it yet: the store has begun a new life, and a lease of the one before may still live.
    Closed {
        /// Time until it is free, if nobody asks for a longer lease.
        left: Duration,
    },
    /// Result of [`LeaseRequest::Acquire`]: the fence of the term.
    Acquired(Fence),
    /// Result of [`LeaseRequest::Renew`].
    Renewed,
    /// Result of [`LeaseRequest::Release`].
    Released,
}

/// A lease that somebody holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Holding {
    /// Token of the holder.
    pub token: Token,
    /// Session in which it was acquired.
    pub owner: Session,
    /// Id of the node that holds it.
    pub id: Arc<str>,
    /// Epoch of its term.
    pub epoch: Epoch,
    /// Time until it ends, by the store's clock, unless it is renewed.
    pub left: Duration,
}
