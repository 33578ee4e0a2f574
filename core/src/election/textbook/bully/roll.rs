//! Nodes that have been called.

use alloc::vec::Vec;

use super::super::Peer;

/// Nodes that have been called, and those of them that have answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Roll {
    missing: Vec<Peer>,
    present: Vec<Peer>,
}

impl Roll {
    /// A roll of nodes that have not answered yet.
    pub(super) fn of(called: impl IntoIterator<Item = Peer>) -> Self {
        Self { missing: called.into_iter().collect(), present: Vec::new() }
    }

    pub(super) fn note(&mut self, peer: Peer) {
        if let Some(place) = self.missing.iter().position(|missing| *missing == peer) {
            self.present.push(self.missing.remove(place));
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    pub(super) fn called(&self) -> impl Iterator<Item = Peer> {
        self.missing.iter().chain(&self.present).copied()
    }

    pub(super) fn present(&self) -> impl Iterator<Item = Peer> {
        self.present.iter().copied()
    }
}
