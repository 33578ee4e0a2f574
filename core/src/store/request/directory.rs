//! Requests that concern a directory of members.

use super::Effect;
#[cfg(doc)]
use super::Refusal;
use crate::{Directory, Epoch, Session, Snapshot};

/// A request that concerns a directory of members.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum DirectoryRequest {
    /// Registers this node, for as long as this session lives. Answered by [`DirectoryReply::Joined`], [`Refusal::Exists`], or
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
    /// [`DirectoryReply::Left`] or [`Refusal::Missing`].
    Leave {
        /// Where.
        directory: Directory,
        /// The session in the entry's name.
        session: Session,
    },
    /// Reads this node's own entry and leaves a watch on it (none where it is missing). Answered by [`DirectoryReply::Registered`]
    /// or [`Refusal::Missing`].
    Verify {
        /// Where.
        directory: Directory,
        /// The session in the entry's name.
        session: Session,
    },
    /// Reads a whole directory. One that does not exist is empty and can be watched all the same. Answered by
    /// [`DirectoryReply::Members`].
    Members {
        /// Which.
        directory: Directory,
        /// Whether to leave a watch: one notice, when an entry comes or goes.
        watch: bool,
    },
}

impl DirectoryRequest {
    pub(super) const fn effect(&self) -> Effect {
        match self {
            Self::Join { .. } => Effect::Create,
            Self::Leave { .. } => Effect::Change,
            Self::Verify { .. } | Self::Members { .. } => Effect::Read,
        }
    }

    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Join { .. } => "join",
            Self::Leave { .. } => "leave",
            Self::Verify { .. } => "verify",
            Self::Members { .. } => "members",
        }
    }
}

/// What came of a request that concerned a directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum DirectoryReply {
    /// To [`DirectoryRequest::Join`].
    Joined,
    /// To [`DirectoryRequest::Leave`].
    Left,
    /// To [`DirectoryRequest::Verify`].
    Registered {
        /// The session that owns the entry.
        owner: Session,
        /// The epoch that it carries.
        epoch: Option<Epoch>,
    },
    /// To [`DirectoryRequest::Members`].
    Members(Snapshot),
}
