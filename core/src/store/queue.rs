//! The election queue.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::QueueReply;
use crate::{Candidate, Guid, Session};

/// One candidate, with its owner and revision.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Contender {
    /// Place in the queue.
    pub candidate: Candidate,
    /// Session that owns it.
    pub owner: Session,
    /// Content: the id of the contender.
    pub participant: Arc<str>,
    /// The revision of the last write of its data (ZooKeeper: `mzxid`).
    pub(super) written: u64,
}

impl Contender {
    pub(super) fn shown(&self) -> QueueReply {
        QueueReply::Candidate { owner: self.owner, participant: self.participant.clone() }
    }
}

/// Candidates in order. In ZooKeeper this is a directory, whose counter of children gives the sequence numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Queue {
    /// Number of names ever created here, which is the next sequence number (ZooKeeper: the `cversion` that the server
    /// keeps, which deletions do not raise).
    pub(super) created: i64,
    /// Number of names that are not candidates.
    pub(super) littered: u32,
    pub(super) contenders: Vec<Contender>,
}

impl Queue {
    pub(super) fn enter(
        &mut self,
        guid: Option<Guid>,
        participant: Arc<str>,
        owner: Session,
        revision: u64,
    ) -> Candidate {
        let candidate = Candidate { sequence: self.created, guid };
        self.created = self.created.wrapping_add(1);
        let at = self.contenders.partition_point(|contender| contender.candidate < candidate);
        self.contenders.insert(at, Contender { candidate, owner, participant, written: revision });
        candidate
    }

    pub(super) fn litter(&mut self) {
        self.created = self.created.wrapping_add(1);
        self.littered = self.littered.saturating_add(1);
    }

    pub(super) fn find(&self, candidate: &Candidate) -> Option<&Contender> {
        self.position(candidate).map(|at| &self.contenders[at])
    }

    pub(super) fn rewrite(&mut self, candidate: &Candidate, revision: u64) -> bool {
        let found = self.position(candidate);
        if let Some(at) = found {
            self.contenders[at].written = revision;
        }
        found.is_some()
    }

    pub(super) fn delete(&mut self, candidate: &Candidate) -> bool {
        let found = self.position(candidate);
        if let Some(at) = found {
            self.contenders.remove(at);
        }
        found.is_some()
    }

    pub(super) fn list(&self) -> QueueReply {
        QueueReply::Candidates {
            candidates: self.contenders.iter().map(|contender| contender.candidate).collect(),
            skipped: self.littered,
        }
    }

    fn position(&self, candidate: &Candidate) -> Option<usize> {
        self.contenders.binary_search_by(|contender| contender.candidate.cmp(candidate)).ok()
    }
}
