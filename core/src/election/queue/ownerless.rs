//! Candidates that no session owns: leftovers of a restored backup, or an operator's mistake.

use alloc::vec::Vec;

use crate::Candidate;
use crate::mutant::Mutant;
use crate::rename::{Rename, Renamer};

/// Candidates of the last listing that were read and have no owner, in order.
///
/// Listings give names without owners, so a node learns an owner only when it reads a candidate as the head or as a
/// predecessor. An owner never changes while its candidate exists, so all nodes arrive at the same order, each in its
/// own time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Ownerless(Vec<Candidate>);

impl Ownerless {
    /// Largest number remembered. One more stands in the way until it is deleted.
    const LIMIT: usize = 256;

    /// Takes a candidate out of the queue. Returns false if there is no room for it.
    pub(super) fn add(&mut self, candidate: Candidate) -> bool {
        if Mutant::OwnerlessStands.lives() {
            return false;
        }
        match self.0.binary_search(&candidate) {
            Ok(_) => true,
            Err(_) if self.0.len() == Self::LIMIT => false,
            Err(place) => {
                self.0.insert(place, candidate);
                true
            }
        }
    }

    /// Forgets candidates that a listing does not show any more.
    pub(super) fn keep_listed(&mut self, listed: &[Candidate]) {
        self.0.retain(|candidate| listed.contains(candidate));
    }

    pub(super) fn contains(&self, candidate: Candidate) -> bool {
        self.0.binary_search(&candidate).is_ok()
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Rename for Ownerless {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.0.rename(renamer);
    }
}
