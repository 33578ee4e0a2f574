//! Errors of joining an election and of waiting to lead.

use core::error::Error;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use rolecall_core::Objection;
use thiserror::Error;

use crate::StartError;
use crate::driver::Outcome;
use crate::store::{ParticipantError, StoreUrlError};

/// Reason why an election could not be joined.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The store's URL is malformed, its scheme is unknown, or this build has no adapter for it.
    #[error(transparent)]
    Url(#[from] StoreUrlError),
    /// Stores cannot keep the election's name, or the id, the address or the metadata of the member.
    #[error(transparent)]
    Refused(ParticipantError),
    /// The store cannot be opened.
    #[error("cannot open the store: {0}")]
    Store(Box<dyn Error + Send + Sync>),
    /// The store did not answer in time.
    #[error("no answer from {store} within {} ms; check the address, and that the store is running", limit.as_millis())]
    Unreachable {
        /// The store.
        store: String,
        /// The limit.
        limit: Duration,
    },
    /// The store answers, but this member could not take its place in time.
    #[error("{store} answers, but this member has no place in the election within {} ms: {reason}", limit.as_millis())]
    NoPlace {
        /// The store.
        store: String,
        /// The limit.
        limit: Duration,
        /// The step that was still missing.
        reason: String,
    },
    /// A live member has this id.
    #[error("the id `{id}` is taken by a live member{}: give one of them another id", at(address))]
    IdTaken {
        /// The id.
        id: Arc<str>,
        /// Address of the other member; empty if it has none.
        address: Arc<str>,
    },
    /// The member ended before it had its place.
    #[error("the member ended before it had its place: {0}")]
    Ended(Outcome),
    /// The member's thread cannot be started.
    #[error("cannot start a thread for the member: {0}")]
    Thread(io::Error),
}

fn at(address: &str) -> String {
    if address.is_empty() { String::new() } else { format!(" at {address}") }
}

impl JoinError {
    /// Error about the names given. An election is a cluster of its own in the store.
    pub(super) fn refused(error: ParticipantError) -> Self {
        Self::Refused(match error {
            ParticipantError::Name { what: "cluster", name, fault } => {
                ParticipantError::Name { what: "election", name, fault }
            }
            ParticipantError::Name { .. }
            | ParticipantError::Address { .. }
            | ParticipantError::Path { .. }
            | ParticipantError::Metadata { .. } => error,
        })
    }

    pub(super) fn start(error: StartError) -> Self {
        match error {
            StartError::Store(error) => Self::Store(error),
            error @ StartError::Family { .. } => Self::Store(error.into()),
            StartError::Thread(error) | StartError::Listen { source: error, .. } => Self::Thread(error),
        }
    }

    pub(super) fn ended(id: &Arc<str>, outcome: Option<Outcome>) -> Self {
        match outcome {
            Some(Outcome::Refused(Objection::IdentityTaken { address })) => {
                Self::IdTaken { id: Arc::clone(id), address }
            }
            Some(outcome) => Self::Ended(outcome),
            // A node ends without an outcome only if its owner drops it, and this is the owner.
            None => Self::Ended(Outcome::Exited),
        }
    }
}

/// Reason why there will be no term.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LeadError {
    /// The member is an observer, which never leads.
    #[error("an observer never leads")]
    Observer,
    /// The membership has ended.
    #[error("the membership is over: {0}")]
    Ended(Outcome),
}

impl LeadError {
    pub(super) fn ended(outcome: Option<Outcome>) -> Self {
        // A node ends without an outcome only if its owner drops it, and the caller still has it.
        Self::Ended(outcome.unwrap_or(Outcome::Exited))
    }
}
