//! Requests about a directory of members.

use super::Effect;
#[cfg(doc)]
use super::Refusal;
use crate::{Directory, Epoch, Session, Snapshot};

/// A request about a directory of members.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum DirectoryRequest {
    /// Registers this node for as long as this session lives. Answered by [`DirectoryReply::Joined`],
    /// [`Refusal::Exists`], or [`Refusal::SessionOver`] if the current session is not the named one.
    Join {
        /// The directory.
        directory: Directory,
        /// Session that the sender believes to be current. It is part of the entry's name.
        session: Session,
        /// Epoch of the term, on a coordinator.
        epoch: Option<Epoch>,
    },
    /// Deletes an entry of this node by its name, for this session or an earlier one. Answered by
    /// [`DirectoryReply::Left`] or [`Refusal::Missing`].
    Leave {
        /// The directory.
        directory: Directory,
        /// Session in the entry's name.
        session: Session,
    },
    /// Reads this node's own entry and sets a watch on it (none if it is missing). Answered by
    /// [`DirectoryReply::Registered`] or [`Refusal::Missing`].
    Verify {
        /// The directory.
        directory: Directory,
        /// Session in the entry's name.
        session: Session,
    },
    /// Reads a whole directory. One that does not exist is empty, and can be watched nevertheless. Answered by
    /// [`DirectoryReply::Members`].
    Members {
        /// The directory.
        directory: Directory,
        /// True to set a watch: one notice, when an entry is added or removed.
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

/// Result of a request about a directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum DirectoryReply {
    /// Result of [`DirectoryRequest::Join`].
    Joined,
    /// Result of [`DirectoryRequest::Leave`].
    Left,
    /// Result of [`DirectoryRequest::Verify`].
    Registered {
        /// Session that owns the entry.
        owner: Session,
        /// Epoch in the entry.
        epoch: Option<Epoch>,
    },
    /// Result of [`DirectoryRequest::Members`].
    Members(Snapshot),
}
