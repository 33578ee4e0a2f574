//! The vocabulary between a node and its coordination store.
//!
//! It names what a coordination layer asks for, not what one product calls it, so that a store is one adapter and the
//! pure [`Machine`](super::Machine) speaks the same words as the real servers.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::{Candidate, Directory, Epoch, Fence, Guid, Incarnation, Session, Snapshot};

/// What a node asks of its store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Request {
    /// Settles everything that this session wrote before and catches this server up: reads that are sent after the answer
    /// see it. Answered by [`Reply::Synced`]. It proves nothing about the session.
    Sync,
    /// Creates a candidate that lives as long as this session, at the end of the queue. Answered by [`Reply::Entered`].
    Enter {
        /// The contender's name.
        guid: Guid,
    },
    /// Reads the names in the queue. A queue that does not exist is empty. Answered by [`Reply::Candidates`].
    List,
    /// Reads one candidate. Answered by [`Reply::Candidate`] or [`Refusal::Missing`], in which case no watch is left.
    Inspect {
        /// Which.
        candidate: Candidate,
        /// Whether to leave a watch: one notice, when it is deleted or its data changes.
        watch: bool,
    },
    /// Deletes a candidate by its name. Answered by [`Reply::Deleted`] or [`Refusal::Missing`].
    Delete {
        /// Which.
        candidate: Candidate,
    },
    /// In one transaction: checks that `candidate` exists, and writes the term record. Answered by [`Reply::Claimed`],
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
    /// Answered by [`Reply::Beaten`] or [`Refusal::CandidateGone`].
    Beat {
        /// The leader's own candidate.
        candidate: Candidate,
    },
    /// Reads the term record, after a sync. Answered by [`Reply::Term`] or [`Refusal::Missing`].
    ReadTerm,
    /// Registers this node, for as long as this session lives. Answered by [`Reply::Joined`], [`Refusal::Exists`], or
    /// [`Refusal::SessionOver`] if this is another session than the one that it names.
    Join {
        /// Where.
        directory: Directory,
        /// The session that the sender believes to be current; it is part of the entry's name.
        session: Session,
        /// The epoch of its term, on a coordinator.
        epoch: Option<Epoch>,
    },
    /// Deletes an entry of this node's own by its name, that of this session or of an earlier one. Answered by
    /// [`Reply::Left`] or [`Refusal::Missing`].
    Leave {
        /// Where.
        directory: Directory,
        /// The session in the entry's name.
        session: Session,
    },
    /// Reads this node's own entry and leaves a watch on it (none where it is missing). Answered by [`Reply::Registered`]
    /// or [`Refusal::Missing`].
    Verify {
        /// Where.
        directory: Directory,
        /// The session in the entry's name.
        session: Session,
    },
    /// Reads a whole directory. One that does not exist is empty and can be watched all the same. Answered by
    /// [`Reply::Members`].
    Members {
        /// Which.
        directory: Directory,
        /// Whether to leave a watch: one notice, when an entry comes or goes.
        watch: bool,
    },
    /// Writes the settings of the whole cluster unless there are some. Answered by [`Reply::Settled`].
    Settle {
        /// Those of this node, as text.
        settings: Arc<str>,
    },
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Answer {
    /// The store did it, and says what came of it.
    Done(Reply),
    /// The store, or the adapter in its place, did not do it and never will.
    Refused(Refusal),
    /// Nobody knows whether it was done, or will be.
    Unknown,
}

/// What came of a request that was done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Reply {
    /// To [`Request::Sync`].
    Synced,
    /// To [`Request::Enter`]: the new candidate.
    Entered(Candidate),
    /// To [`Request::List`]: the queue in order, and how many names in it were not candidates.
    Candidates {
        /// Ordered, none twice.
        candidates: Vec<Candidate>,
        /// Names that are not those of candidates.
        skipped: u32,
    },
    /// To [`Request::Inspect`].
    Candidate {
        /// The session that owns it.
        owner: Session,
        /// What its data says: the id of the contender.
        participant: Arc<str>,
    },
    /// To [`Request::Delete`].
    Deleted,
    /// To [`Request::Claim`]: the revision of the write, which is the term's epoch.
    Claimed(Epoch),
    /// To [`Request::Beat`].
    Beaten,
    /// To [`Request::ReadTerm`]: who claimed last.
    Term(TermRecord),
    /// To [`Request::Join`].
    Joined,
    /// To [`Request::Leave`].
    Left,
    /// To [`Request::Verify`].
    Registered {
        /// The session that owns the entry.
        owner: Session,
        /// The epoch that it carries.
        epoch: Option<Epoch>,
    },
    /// To [`Request::Members`].
    Members(Snapshot),
    /// To [`Request::Settle`]: the settings that hold, this node's or those that were there.
    Settled(Arc<str>),
}

/// The record of the latest term; it outlives its leader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct TermRecord {
    /// Its fencing token.
    pub fence: Fence,
    /// The id of the node that claimed it.
    pub leader: Arc<str>,
    /// Where that node answers.
    pub address: Arc<str>,
}

/// Why a request was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Refusal {
    /// What it names is not there.
    Missing,
    /// What it would create is there already.
    Exists,
    /// The candidate that it checks is not there.
    CandidateGone,
    /// The adapter has no connection, so nothing was sent.
    Disconnected,
    /// The session is over.
    SessionOver,
    /// The store does not permit it, or cannot do it now.
    Denied,
}

/// Why a watch fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Notice {
    /// What was watched is gone.
    Deleted,
    /// What was watched is other than it was, or may be.
    Changed,
}
