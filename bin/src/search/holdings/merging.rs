//! Merges the shards of a node in the background, once nothing has changed for a while.
//!
//! What a node is the first to be asked for becomes one index, and the rest of its share another, so that a task is evaluated in one.

use core::mem;
use core::time::Duration;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use rolecall::Time;

use super::{Holdings, State};
use crate::search::index::{BuildError, Merged, Scorer, Snapshot, Top};
use crate::search::shard::ShardId;

/// Time without a change after which shards are merged.
const QUIET: Duration = Duration::from_secs(3);
/// Time between two merges, as a multiple of the time that the last one took: where documents keep changing, merging takes a
/// twentieth of the time.
const PAUSES: u32 = 20;
/// Pause after an index could not be written.
const AFTER_A_FAILURE: Duration = Duration::from_secs(60);

/// Effort of looking a word up, as a number of documents.
const LOOK_UP: u64 = 200;

/// Names of the merged indexes: what the node is the first to be asked for, and the rest of its share.
const NAMES: [&str; 2] = ["first", "rest"];

/// Merged indexes of a node.
#[derive(Debug, Default)]
pub(super) struct Merging {
    merged: [Option<Arc<Merged>>; NAMES.len()],
    /// Time of the last change to a shard.
    changed_at: Time,
    /// Time before which nothing is merged again.
    not_before: Time,
}

/// Shards to search, divided by where they are evaluated.
#[derive(Debug)]
pub(in crate::search) struct Groups {
    pub(in crate::search) merged: Vec<Arc<Merged>>,
    /// Shards that are evaluated in a merged index.
    in_merged: BTreeSet<ShardId>,
    /// Shards that are evaluated by themselves.
    pub(in crate::search) single: Vec<Arc<Snapshot>>,
}

impl Groups {
    /// True if `shard` is evaluated in a merged index.
    pub(in crate::search) fn has(&self, shard: ShardId) -> bool {
        self.in_merged.contains(&shard)
    }

    /// Number of documents that have `terms`, with something for each look-up of a term. In shards by themselves, looking that up
    /// would take as long as the work, so every document counts.
    pub(in crate::search) fn effort(&self, terms: &[String]) -> io::Result<u64> {
        let mut effort = 0;
        for merged in &self.merged {
            effort += merged.sum(terms)?.frequencies.iter().map(|documents| documents + LOOK_UP).sum::<u64>();
        }
        let singles = self.single.iter().map(|snapshot| snapshot.documents.len() as u64 + LOOK_UP);
        Ok(effort + singles.sum::<u64>() * terms.len() as u64)
    }

    /// Offers the matching documents of all shards to `top`. Returns the number of matches in each.
    pub(in crate::search) fn search<'s>(
        &'s self,
        scorer: &Scorer<'_>,
        top: &mut Top<'s>,
    ) -> io::Result<Vec<(ShardId, u64)>> {
        let mut counts = Vec::with_capacity(self.in_merged.len() + self.single.len());
        for merged in &self.merged {
            counts.extend(merged.search(scorer, |shard| self.has(shard), top)?);
        }
        for snapshot in &self.single {
            counts.push((snapshot.shard, snapshot.search(scorer, top)?));
        }
        Ok(counts)
    }
}

impl Merging {
    pub(super) fn changed(&mut self, now: Time) {
        self.changed_at = now;
    }
}

impl State {
    /// Shards of each merged index. One shard alone, or shards without documents, are not merged.
    fn to_merge(&self) -> [Vec<Arc<Snapshot>>; NAMES.len()] {
        let mut groups = [Vec::new(), Vec::new()];
        let Some(wanted) = &self.wanted else { return groups };
        for (shard, slot) in &self.slots {
            let snapshot = &slot.held.snapshot;
            if let Some(&place) = wanted.hold.get(shard)
                && !snapshot.documents.is_empty()
            {
                let is_first = wanted.first == 0 || place < wanted.first;
                groups[usize::from(!is_first)].push(Arc::clone(snapshot));
            }
        }
        groups
    }
}

impl Holdings {
    /// Merges the shards, if that is due. Takes as long as copying them.
    ///
    /// # Errors
    /// If an index cannot be written. The shards are then searched one by one.
    pub(in crate::search) fn merge(&self, clock: &dyn Fn() -> Time) -> Result<(), BuildError> {
        let begun = clock();
        let groups = {
            let state = self.state();
            let is_building = !state.building.is_empty();
            let Merging { changed_at, not_before, .. } = state.merging;
            // Before a leader has said so, the node does not know what it must hold, and keeps what it has.
            if state.wanted.is_none() || is_building || begun < not_before || begun.since(changed_at) < QUIET {
                return Ok(());
            }
            state.to_merge()
        };
        for (number, (name, snapshots)) in NAMES.into_iter().zip(groups).enumerate() {
            let is_worth_it = snapshots.len() > 1;
            let known = self.state().merging.merged[number].clone();
            if known.map_or(!is_worth_it, |known| known.is_over(&snapshots)) {
                continue;
            }
            let next = is_worth_it.then(|| Merged::new(snapshots, name, self.settings, &self.storage)).transpose();
            let ended = clock();
            let mut state = self.state();
            let pause = if next.is_ok() { ended.since(begun) * PAUSES } else { AFTER_A_FAILURE };
            state.merging.not_before = ended + pause;
            // An index may be large, so it is dropped after the lock.
            let before = mem::replace(&mut state.merging.merged[number], next?.map(Arc::new));
            let is_gone = state.merging.merged[number].is_none();
            drop(state);
            drop(before);
            if is_gone {
                self.storage.remove_merged(self.settings, name);
            }
        }
        Ok(())
    }

    /// Divides `snapshots` by where they are evaluated. A merged index is used if at least half of its documents are wanted.
    pub(in crate::search) fn grouped(&self, snapshots: Vec<Arc<Snapshot>>) -> Groups {
        let known: Vec<_> = self.state().merging.merged.iter().flatten().cloned().collect();
        let mut groups = Groups { merged: Vec::new(), in_merged: BTreeSet::new(), single: snapshots };
        for merged in known {
            let (inside, outside): (Vec<_>, Vec<_>) =
                mem::take(&mut groups.single).into_iter().partition(|snapshot| merged.has(snapshot));
            groups.single = outside;
            let wanted: usize = inside.iter().map(|snapshot| snapshot.documents.len()).sum();
            if wanted > 0 && wanted * 2 >= merged.documents() {
                groups.in_merged.extend(inside.iter().map(|snapshot| snapshot.shard));
                groups.merged.push(merged);
            } else {
                groups.single.extend(inside);
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests;
