//! What applications did, with the true time at which they did it.

use std::sync::{Arc, Mutex, PoisonError};

use rolecall_core::{Fence, Time};

use super::clock::TrueTime;

/// Writes down what the application of one node does, for the simulation to judge. Clones share it.
#[derive(Clone, Debug)]
pub struct Acts {
    node: usize,
    life: u32,
    truth: TrueTime,
    list: ActList,
}

/// What was written down since it was last taken.
#[derive(Clone, Debug, Default)]
pub(super) struct ActList(Arc<Mutex<Vec<Act>>>);

/// One thing that an application did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Act {
    pub(super) at: Time,
    pub(super) node: usize,
    /// Which life of the node: one that starts again remembers nothing.
    pub(super) life: u32,
    pub(super) fence: Fence,
    pub(super) what: ActKind,
}

/// Of which kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ActKind {
    /// A leader began something that only a leader may do.
    Begin,
    /// A worker did what a leader asked for.
    Accept,
}

impl Acts {
    pub(super) fn new(node: usize, life: u32, truth: TrueTime, list: ActList) -> Self {
        Self { node, life, truth, list }
    }

    /// A leader-only act begins now, in the term of `fence`: right after [`Term::check`](rolecall::Term::check) allowed it.
    pub fn begin(&self, fence: Fence) {
        self.note(fence, ActKind::Begin);
    }

    /// A worker does now what the leader of `fence` asked for: right after [`Term::admit`](rolecall::Term::admit) allowed it.
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
