//! Who is registered, and as what.

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

/// Identifies an entry: one node during one session. Ordered by node, then session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct MemberKey {
    /// The node's id.
    pub id: Arc<str>,
    /// The session that owns the entry.
    pub session: Session,
}

/// One entry of a directory, as read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Member {
    /// Which entry it is.
    pub key: MemberKey,
    /// Where the node answers, `host:port`.
    pub address: Arc<str>,
    /// The epoch of its term, on a coordinator.
    pub epoch: Option<Epoch>,
    /// The timeout of its session, where it says so.
    pub session_timeout: Option<Duration>,
    /// The store's revision at which the entry was created (ZooKeeper: `czxid`); tells who came first.
    pub created: u64,
    /// What the application says of it. Fuzzers leave it empty: no machine looks at it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Metadata::is_empty"))]
    #[cfg_attr(feature = "arbitrary", arbitrary(default))]
    pub metadata: Metadata,
}

/// A whole directory at one reading, ordered by key; malformed entries are left out and counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Snapshot {
    /// The entries that could be read, ordered by key, no key twice.
    pub members: Vec<Member>,
    /// How many could not.
    pub skipped: u32,
}

/// What changed from one snapshot to the next. Applied to the earlier it gives the later (promise P10).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Difference {
    /// Entries that are new.
    pub joined: Vec<Member>,
    /// Entries that are gone.
    pub left: Vec<MemberKey>,
    /// Entries whose data is other than it was.
    pub changed: Vec<Member>,
}
