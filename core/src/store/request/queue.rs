//! Requests about the election by a queue.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Effect;
#[cfg(doc)]
use super::Refusal;
use crate::{Candidate, Epoch, Guid, Incarnation, Session};

/// A request about the election by a queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum QueueRequest {
    /// Creates a candidate at the end of the queue. It lives as long as this session. Answered by
    /// [`QueueReply::Entered`].
    Enter {
        /// Guid of the contender.
        guid: Guid,
    },
    /// Reads the names in the queue. A queue that does not exist is empty. Answered by [`QueueReply::Candidates`].
    List,
    /// Reads one candidate. Answered by [`QueueReply::Candidate`], or by [`Refusal::Missing`], which sets no watch.
    Inspect {
        /// The candidate.
        candidate: Candidate,
        /// True to set a watch: one notice, when the candidate is deleted or its data changes.
        watch: bool,
    },
    /// Deletes a candidate by its name. Answered by [`QueueReply::Deleted`] or [`Refusal::Missing`].
    Delete {
        /// The candidate.
        candidate: Candidate,
    },
    /// Checks that `candidate` exists and writes the term record, in one transaction. Answered by
    /// [`QueueReply::Claimed`], [`Refusal::CandidateGone`], [`Refusal::Missing`] (no record to overwrite), or
    /// [`Refusal::Exists`] (the record to create exists).
    Claim {
        /// The claimant's own candidate.
        candidate: Candidate,
        /// The life of the store, as read from the record, or a new random one with `create`.
        incarnation: Incarnation,
        /// True to create the record, which was missing; false to overwrite it.
        create: bool,
    },
    /// Checks that `candidate` exists and writes the beat record (or creates it), in one transaction. Answered by
    /// [`QueueReply::Beaten`] or [`Refusal::CandidateGone`].
    Beat {
        /// The leader's own candidate.
        candidate: Candidate,
    },
}

impl QueueRequest {
    pub(super) const fn effect(&self) -> Effect {
        match self {
            Self::Enter { .. } => Effect::Create,
            Self::List | Self::Inspect { .. } => Effect::Read,
            Self::Delete { .. } | Self::Claim { .. } => Effect::Change,
            Self::Beat { .. } => Effect::Beat,
        }
    }

    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Enter { .. } => "enter",
            Self::List => "list",
            Self::Inspect { .. } => "inspect",
            Self::Delete { .. } => "delete",
            Self::Claim { .. } => "claim",
            Self::Beat { .. } => "beat",
        }
    }
}

/// Result of a request about the queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum QueueReply {
    /// Result of [`QueueRequest::Enter`]: the new candidate.
    Entered(Candidate),
    /// Result of [`QueueRequest::List`]: the queue.
    Candidates {
        /// Candidates in order, without duplicates.
        candidates: Vec<Candidate>,
        /// Number of names that are not candidates.
        skipped: u32,
    },
    /// Result of [`QueueRequest::Inspect`].
    Candidate {
        /// Session that owns the candidate.
        owner: Session,
        /// Content of the candidate: the id of its contender.
        participant: Arc<str>,
    },
    /// Result of [`QueueRequest::Delete`].
    Deleted,
    /// Result of [`QueueRequest::Claim`]: the revision of the write, which is the term's epoch.
    Claimed(Epoch),
    /// Result of [`QueueRequest::Beat`].
    Beaten,
}
