//! Members: the registered nodes.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::{Epoch, Metadata, Session};

/// A directory of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Directory {
    /// Nodes that serve tasks.
    Workers,
    /// The node that leads.
    Coordinators,
}

/// Key of an entry: one node during one session. Ordered by node, then session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct MemberKey {
    /// Id of the node.
    pub id: Arc<str>,
    /// Session that owns the entry.
    pub session: Session,
}

/// One entry of a directory, as read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Member {
    /// Key of the entry.
    pub key: MemberKey,
    /// Address of the node, `host:port`.
    pub address: Arc<str>,
    /// Epoch of its term, on a coordinator.
    pub epoch: Option<Epoch>,
    /// Timeout of its session, if the entry says so.
    pub session_timeout: Option<Duration>,
    /// Revision of the store at which the entry was created (ZooKeeper: `czxid`); it tells which of two entries came
    /// first.
    pub created: u64,
    /// The application's description of it. Fuzzers leave it empty, since no machine reads it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Metadata::is_empty"))]
    #[cfg_attr(feature = "arbitrary", arbitrary(default))]
    pub metadata: Metadata,
}

/// One reading of a whole directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Snapshot {
    /// The readable entries, ordered by key, without duplicates.
    pub members: Vec<Member>,
    /// Number of malformed entries, which are left out.
    pub skipped: u32,
}

/// Change from one snapshot to the next. Applied to the earlier one it gives the later one (promise P10).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Difference {
    /// New entries.
    pub joined: Vec<Member>,
    /// Keys of entries that are gone.
    pub left: Vec<MemberKey>,
    /// Entries with changed data.
    pub changed: Vec<Member>,
}
