//! The messages between a node and its coordination store.
//!
//! Their names are those of coordination, not of one product. So a store needs only one adapter, and the pure
//! [`Machine`](super::Machine) uses the same messages as the real servers. Requests and replies are nested by facet:
//! code that does not care about a facet needs one arm for it.

mod directory;
mod effect;
mod lease;
mod queue;
mod settings;
mod term;
mod wish;

pub use directory::{DirectoryReply, DirectoryRequest};
pub use effect::Effect;
pub use lease::{Holding, LeaseReply, LeaseRequest};
pub use queue::{QueueReply, QueueRequest};
pub use settings::SettingsRequest;
pub use term::{TermRecord, TermRequest};
pub use wish::{Aim, Verdict, Wish, WishReply, WishRequest};

use alloc::sync::Arc;

/// A node's request to its store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Request {
    /// Settles all earlier writes of this session and brings this server up to date, so that reads sent after the
    /// answer see them. Answered by [`Reply::Synced`]. It proves nothing about the session.
    Sync,
    /// A request about the election by a queue. Answered by [`Reply::Queue`].
    Queue(QueueRequest),
    /// A request about the election by a lease. Answered by [`Reply::Lease`].
    Lease(LeaseRequest),
    /// A request about the record of the latest term. Answered by [`Reply::Term`].
    Term(TermRequest),
    /// A request about a directory of members. Answered by [`Reply::Directory`].
    Directory(DirectoryRequest),
    /// A request about the settings of the whole cluster. Answered by [`Reply::Settings`].
    Settings(SettingsRequest),
    /// A request about the wish of an operator. Answered by [`Reply::Wish`].
    Wish(WishRequest),
}

impl Request {
    /// Effect of the request on the store.
    #[must_use]
    pub const fn effect(&self) -> Effect {
        match self {
            Self::Sync => Effect::FreshRead,
            Self::Queue(request) => request.effect(),
            Self::Lease(request) => request.effect(),
            Self::Term(request) => request.effect(),
            Self::Directory(request) => request.effect(),
            Self::Settings(request) => request.effect(),
            Self::Wish(request) => request.effect(),
        }
    }

    /// Name of this kind of request in metrics; it never changes.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Queue(request) => request.kind(),
            Self::Lease(request) => request.kind(),
            Self::Term(request) => request.kind(),
            Self::Directory(request) => request.kind(),
            Self::Settings(request) => request.kind(),
            Self::Wish(request) => request.kind(),
        }
    }
}

/// Outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Answer {
    /// The store carried it out, with this result.
    Done(Reply),
    /// The store, or the adapter in its place, did not carry it out and never will.
    Refused(Refusal),
    /// It is unknown whether it was or will be carried out.
    Unknown,
}

/// Result of a request that was carried out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Reply {
    /// Result of [`Request::Sync`].
    Synced,
    /// Result of [`Request::Queue`].
    Queue(QueueReply),
    /// Result of [`Request::Lease`].
    Lease(LeaseReply),
    /// Result of [`TermRequest::Read`]: the last claim.
    Term(TermRecord),
    /// Result of [`Request::Directory`].
    Directory(DirectoryReply),
    /// Result of [`SettingsRequest::Settle`]: the settings in force, this node's or earlier ones.
    Settings(Arc<str>),
    /// Result of [`Request::Wish`].
    Wish(WishReply),
}

/// Reason for which a request was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Refusal {
    /// The named entry does not exist.
    Missing,
    /// The entry to create exists already.
    Exists,
    /// The entry to read is malformed: another client wrote it.
    Malformed,
    /// The record to overwrite is not as it was read, or there is one where none was.
    Overtaken,
    /// The candidate to check does not exist.
    CandidateGone,
    /// The lease to prolong or give up has ended, or is not this token's.
    LeaseLost,
    /// The store elects in another way, so it knows no such request.
    OtherFamily,
    /// The adapter has no connection, so nothing was sent.
    Disconnected,
    /// The session is over.
    SessionOver,
    /// The store does not permit it, or cannot do it now.
    Denied,
}

/// Reason for which a watch fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Notice {
    /// The watched entry is gone.
    Deleted,
    /// The watched entry or directory has changed, or may have.
    Changed,
}
