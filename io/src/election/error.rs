//! Why there is no membership, or no term.

use core::error::Error;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use rolecall_core::Objection;
use thiserror::Error;

use crate::StartError;
use crate::driver::Outcome;
use crate::store::StoreUrlError;

/// Why an election could not be joined.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The store's URL is malformed, its scheme is unknown, or this build has no adapter for it.
    #[error(transparent)]
    Url(#[from] StoreUrlError),
    /// The store refuses what it was given: a name that can't be written into it, for instance.
    #[error("the store can't be opened: {0}")]
    Store(Box<dyn Error + Send + Sync>),
    /// Nothing was heard from the store in time.
    #[error("no answer from {store} within {} ms; is it running there?", limit.as_millis())]
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
        /// What was still missing.
        reason: String,
    },
    /// A live member has this id.
    #[error("the id `{id}` is taken by a live member{}: give one of them another", at(address))]
    IdTaken {
        /// The id.
        id: Arc<str>,
        /// Address at which the other answers; empty if it answers nowhere.
        address: Arc<str>,
    },
    /// The member ended before it had its place.
    #[error("the member {0}")]
    Ended(Outcome),
    /// There can be no thread for the member.
    #[error("a thread for the member can't be started: {0}")]
    Thread(io::Error),
}

fn at(address: &str) -> String {
    if address.is_empty() { String::new() } else { format!(" at {address}") }
}

impl JoinError {
    pub(super) fn start(error: StartError) -> Self {
        match error {
            StartError::Store(error) => Self::Store(error),
            StartError::Thread(error) | StartError::Listen { source: error, .. } => Self::Thread(error),
        }
    }

    pub(super) fn ended(id: &Arc<str>, outcome: Option<Outcome>) -> Self {
        match outcome {
            Some(Outcome::Refused(Objection::IdentityTaken { address })) => {
                Self::IdTaken { id: Arc::clone(id), address }
            }
            Some(outcome) => Self::Ended(outcome),
            // Only who drops a node ends it without an outcome, and this is its owner.
            None => Self::Ended(Outcome::Exited),
        }
    }
}

/// Why there will be no term.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LeadError {
    /// The member is an observer, which never leads.
    #[error("an observer never leads")]
    Observer,
    /// The membership has ended.
    #[error("the membership is over: it {0}")]
    Ended(Outcome),
}

impl LeadError {
    pub(super) fn ended(outcome: Option<Outcome>) -> Self {
        // Only who drops a node ends it without an outcome, and whoever asks has it still.
        Self::Ended(outcome.unwrap_or(Outcome::Exited))
    }
}
