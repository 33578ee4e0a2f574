//! A directory of members.

use alloc::vec::Vec;

use super::DirectoryReply;
use crate::{Member, MemberKey, Session, Snapshot};

/// One entry, with its owner and revision.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Entry {
    pub(super) member: Member,
    /// The owner, which may differ from the session in the entry's name.
    pub(super) owner: Session,
    /// Revision of the last write of its data (ZooKeeper: `mzxid`).
    pub(super) written: u64,
}

impl Entry {
    pub(super) fn shown(&self) -> DirectoryReply {
        DirectoryReply::Registered { owner: self.owner, epoch: self.member.epoch }
    }
}

/// Entries, ordered by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Entries {
    /// Revision at which an entry was last added or removed (ZooKeeper: `pzxid`).
    pub(super) changed: u64,
    /// Number of unreadable entries.
    pub(super) littered: u32,
    pub(super) entries: Vec<Entry>,
}

impl Entries {
    /// Adds an entry unless its name exists.
    pub(super) fn add(&mut self, member: Member, owner: Session) -> bool {
        let revision = member.created;
        match self.position(&member.key) {
            Ok(_) => false,
            Err(at) => {
                self.entries.insert(at, Entry { member, owner, written: revision });
                self.changed = revision;
                true
            }
        }
    }

    pub(super) fn litter(&mut self, revision: u64) {
        self.littered = self.littered.saturating_add(1);
        self.changed = revision;
    }

    pub(super) fn find(&self, key: &MemberKey) -> Option<&Entry> {
        self.position(key).ok().map(|at| &self.entries[at])
    }

    pub(super) fn rewrite(&mut self, key: &MemberKey, revision: u64) -> bool {
        let found = self.position(key);
        if let Ok(at) = found {
            self.entries[at].written = revision;
        }
        found.is_ok()
    }

    pub(super) fn remove(&mut self, key: &MemberKey, revision: u64) -> bool {
        let found = self.position(key);
        if let Ok(at) = found {
            self.entries.remove(at);
            self.changed = revision;
        }
        found.is_ok()
    }

    /// Removes everything that a session owns.
    pub(super) fn release(&mut self, owner: Session, revision: u64) {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.owner != owner);
        if self.entries.len() != before {
            self.changed = revision;
        }
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot { members: self.entries.iter().map(|entry| entry.member.clone()).collect(), skipped: self.littered }
    }

    fn position(&self, key: &MemberKey) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| entry.member.key.cmp(key))
    }
}
