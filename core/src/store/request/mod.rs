//! The vocabulary between a node and its coordination store.
//!
//! It names what a coordination layer asks for, not what one product calls it, so that a store is one adapter and the
//! pure [`Machine`](super::Machine) speaks the same words as the real servers. Requests and replies are nested by facet: a
//! place that does not care about a facet writes one arm for it.

mod directory;
mod effect;
mod queue;
mod settings;
mod term;

pub use directory::{DirectoryReply, DirectoryRequest};
pub use effect::Effect;
pub use queue::{QueueReply, QueueRequest};
pub use settings::SettingsRequest;
pub use term::{TermRecord, TermRequest};

use alloc::sync::Arc;

/// A node's request to its store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Request {
    /// Settles everything that this session wrote before and catches this server up: reads that are sent after the answer
    /// see it. Answered by [`Reply::Synced`]. It proves nothing about the session.
    Sync,
    /// Concerns the election by a queue. Answered by [`Reply::Queue`].
    Queue(QueueRequest),
    /// Concerns the record of the latest term. Answered by [`Reply::Term`].
    Term(TermRequest),
    /// Concerns a directory of members. Answered by [`Reply::Directory`].
    Directory(DirectoryRequest),
    /// Concerns the settings of the whole cluster. Answered by [`Reply::Settings`].
    Settings(SettingsRequest),
}

impl Request {
    /// What the request does to the store.
    #[must_use]
    pub const fn effect(&self) -> Effect {
        match self {
            Self::Sync => Effect::FreshRead,
            Self::Queue(request) => request.effect(),
            Self::Term(request) => request.effect(),
            Self::Directory(request) => request.effect(),
            Self::Settings(request) => request.effect(),
        }
    }

    /// Name of this kind of request in metrics; it never changes.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Queue(request) => request.kind(),
            Self::Term(request) => request.kind(),
            Self::Directory(request) => request.kind(),
            Self::Settings(request) => request.kind(),
        }
    }
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
    /// To [`Request::Queue`].
    Queue(QueueReply),
    /// To [`TermRequest::Read`]: who claimed last.
    Term(TermRecord),
    /// To [`Request::Directory`].
    Directory(DirectoryReply),
    /// To [`SettingsRequest::Settle`]: the settings that hold, this node's or those that were there.
    Settings(Arc<str>),
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
    /// What it reads is not what it should be: somebody else wrote it.
    Malformed,
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
