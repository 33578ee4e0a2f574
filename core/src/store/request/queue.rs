//! Requests that concern the election by a queue.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Effect;
#[cfg(doc)]
use super::Refusal;
use crate::{Candidate, Epoch, Guid, Incarnation, Session};

/// A request that concerns the election by a queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum QueueRequest {
    /// Creates a candidate that lives as long as this session, at the end of the queue. Answered by [`QueueReply::Entered`].
    Enter {
        /// The contender's name.
        guid: Guid,
    },
    /// Reads the names in the queue. A queue that does not exist is empty. Answered by [`QueueReply::Candidates`].
    List,
    /// Reads one candidate. Answered by [`QueueReply::Candidate`] or [`Refusal::Missing`], in which case no watch is left.
    Inspect {
        /// Which.
        candidate: Candidate,
        /// Whether to leave a watch: one notice, when it is deleted or its data changes.
        watch: bool,
    },
    /// Deletes a candidate by its name. Answered by [`QueueReply::Deleted`] or [`Refusal::Missing`].
    Delete {
        /// Which.
        candidate: Candidate,
    },
    /// In one transaction: checks that `candidate` exists, and writes the term record. Answered by [`QueueReply::Claimed`],
    /// [`Refusal::CandidateGone`], [`Refusal::Missing`] (no record to write), or [`Refusal::Exists`] (one to create).
    Claim {
        /// The claimant's own candidate.
        candidate: Candidate,
        /// The life of the store, as read from the record, or a new random one with `create`.
        incarnation: Incarnation,
        /// Whether the record is created (it was missing) instead of written over.
        create: bool,
    },
    /// In one transaction: checks that `candidate` exists, and writes the beat record (created when it is missing).
    /// Answered by [`QueueReply::Beaten`] or [`Refusal::CandidateGone`].
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

/// What came of a request that concerned the queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum QueueReply {
    /// To [`QueueRequest::Enter`]: the new candidate.
    Entered(Candidate),
    /// To [`QueueRequest::List`]: the queue in order, and how many names in it were not candidates.
    Candidates {
        /// Ordered, none twice.
        candidates: Vec<Candidate>,
        /// Names that are not those of candidates.
        skipped: u32,
    },
    /// To [`QueueRequest::Inspect`].
    Candidate {
        /// The session that owns it.
        owner: Session,
        /// What its data says: the id of the contender.
        participant: Arc<str>,
    },
    /// To [`QueueRequest::Delete`].
    Deleted,
    /// To [`QueueRequest::Claim`]: the revision of the write, which is the term's epoch.
    Claimed(Epoch),
    /// To [`QueueRequest::Beat`].
    Beaten,
}
