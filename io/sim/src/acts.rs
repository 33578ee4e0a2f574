//! The acts of applications, with their true times.

use std::sync::{Arc, Mutex, PoisonError};

use rolecall_core::{Fence, Time};

use super::clock::TrueTime;

/// Records what the application of one node does, for the simulation to judge. Clones share the record.
#[derive(Clone, Debug)]
pub struct Acts {
    node: usize,
    life: u32,
    truth: TrueTime,
    list: ActList,
}

/// Acts recorded since they were last taken.
#[derive(Clone, Debug, Default)]
pub(super) struct ActList(Arc<Mutex<Vec<Act>>>);

/// One act of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Act {
    pub(super) at: Time,
    pub(super) node: usize,
    /// Number of the node's life: a node that starts again remembers nothing.
    pub(super) life: u32,
    pub(super) fence: Fence,
    pub(super) what: ActKind,
}

/// Kinds of acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ActKind {
    /// A leader began a leader-only act.
    Begin,
    /// A worker carried out a leader's request.
    Accept,
}

impl Acts {
    pub(super) fn new(node: usize, life: u32, truth: TrueTime, list: ActList) -> Self {
        Self { node, life, truth, list }
    }

    /// Records that a leader-only act begins now, in the term of `fence`. To be called right after
    /// [`LeaderTerm::check`](rolecall::LeaderTerm::check) allowed it.
    pub fn begin(&self, fence: Fence) {
        self.note(fence, ActKind::Begin);
    }

    /// Records that a worker carries out a request of the leader of `fence` now. To be called right after
    /// [`Following::admit`](rolecall::Following::admit) allowed it.
    pub fn accept(&self, fence: Fence) {
        self.note(fence, ActKind::Accept);
    }

    fn note(&self, fence: Fence, what: ActKind) {
        let act = Act { at: self.truth.now(), node: self.node, life: self.life, fence, what };
        self.list.0.lock().unwrap_or_else(PoisonError::into_inner).push(act);
    }
}

impl ActList {
    pub(super) fn take(&self) -> Vec<Act> {
        core::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
