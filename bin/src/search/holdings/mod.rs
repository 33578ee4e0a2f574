//! Shards of a node: those that it must hold, those that it has, and the state of each.
//!
//! ```text
//! share, as told ─┐
//!                 ├─► look: due shards ──► refresh each ──► current snapshot, the one before for some seconds
//! files ──────────┘                                             └─► answer tasks
//! ```
//! The caller decides on which threads the work is done, and passes the time in.

mod merging;
mod told;

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use rolecall::Time;
use serde::Serialize;
use tokio::sync::watch;

use crate::mutant::Mutant;
use crate::search::documents::{DocumentFile, FolderError, Links, Scan, Skipped, SkippedReport, Source};
use crate::search::index::{
    BuildError, BuildInput, FileOutcome, Held, IndexStorage, Snapshot, SnapshotId, build, unchanged,
};
use crate::search::settings::Settings;
use crate::search::shard::ShardId;
use crate::search::worker::Efforts;
pub(in crate::search) use merging::Groups;
use merging::Merging;
use told::{Followed, Wanted};

/// Time for which the previous state is kept, for queries between two rounds.
const KEEP_PREVIOUS: Duration = Duration::from_secs(10);
/// Time for which a shard that the node need not hold any more is kept up to date, so that a shard that moves back is still
/// there.
pub const KEEP_UNWANTED: Duration = Duration::from_secs(60);

/// Shards that a node holds.
#[derive(Debug)]
pub struct Holdings {
    documents: Arc<dyn Source>,
    settings: Settings,
    storage: IndexStorage,
    state: Mutex<State>,
    /// Held during a look, so that the newest scan is also the last one taken.
    looking: Mutex<()>,
    /// Measurements of the tasks done so far.
    pub(super) efforts: Efforts,
    /// Number of times that the wanted shards have changed.
    renewals: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    /// Shards that the node must hold; `None` before a leader has said so.
    wanted: Option<Wanted>,
    /// Plan that the node follows.
    followed: Option<Followed>,
    building: BTreeSet<ShardId>,
    slots: BTreeMap<ShardId, Slot>,
    merging: Merging,
    /// Files of each shard that has any, as last seen.
    files: BTreeMap<ShardId, Arc<[DocumentFile]>>,
    skipped: Vec<Skipped>,
    links: Links,
    /// Number of changes to anything of which a report tells.
    changes: u64,
}

#[derive(Debug)]
struct Slot {
    held: Held,
    /// Files that were compared with those of the index and found to be the same.
    same_as: Option<Arc<[DocumentFile]>>,
    /// Earlier states, each with the time at which it was replaced.
    previous: Vec<(Arc<Snapshot>, Time)>,
    /// Time at which the shard was first found to be unwanted.
    unwanted_since: Option<Time>,
}

/// Shard whose files differ from those of its index.
#[derive(Clone, Debug)]
pub struct Due {
    /// The shard.
    pub shard: ShardId,
    files: Arc<[DocumentFile]>,
}

/// Size of a node's index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IndexSize {
    /// Shards that it holds.
    pub shards: usize,
    /// Number of shards that it must hold.
    pub wanted: usize,
    /// Documents in the shards that it holds.
    pub documents: usize,
    /// Number of these documents whose text is not in UTF-8.
    pub recoded: usize,
    /// Symbolic links in the documents folder.
    pub links: Links,
}

/// Numbers about the shards of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HoldingsReport {
    /// Number of shards that it must hold.
    pub wanted: usize,
    /// Number of these shards that it holds.
    pub ready: usize,
    /// Documents in the shards that it holds.
    pub documents: u64,
    /// Files in the folder that are not searched. Files with bad contents are known only for the shards that the node holds.
    pub skipped: SkippedReport,
    /// Number of documents in each encoding.
    pub encodings: BTreeMap<&'static str, u64>,
    /// Symbolic links in the folder.
    pub links: Links,
}

impl Holdings {
    /// Makes holdings over the documents in `folder`, with no shards yet.
    ///
    /// # Errors
    /// If the folder does not exist or cannot be read.
    pub fn open(
        folder: &Path,
        settings: Settings,
        storage: IndexStorage,
        now: SystemTime,
    ) -> Result<Self, FolderError> {
        Self::of(Arc::new(folder.to_owned()), settings, storage, now)
    }

    /// Makes holdings over `documents`, with no shards yet.
    ///
    /// # Errors
    /// If the documents cannot be listed.
    pub fn of(
        documents: Arc<dyn Source>,
        settings: Settings,
        storage: IndexStorage,
        now: SystemTime,
    ) -> Result<Self, FolderError> {
        let scan = documents.scan(now)?;
        storage.remove_older();
        let renewals = watch::Sender::new(0);
        let (state, looking, efforts) = (Mutex::default(), Mutex::default(), Efforts::default());
        let holdings = Self { documents, settings, storage, state, looking, efforts, renewals };
        holdings.take(scan);
        Ok(holdings)
    }

    /// Settings of the cluster.
    #[must_use]
    pub const fn settings(&self) -> Settings {
        self.settings
    }

    /// Scans the folder, if something may have changed there, and returns the shards that must be [refreshed](Self::refresh).
    ///
    /// # Errors
    /// If the folder cannot be read. The shards then stay as they are.
    pub fn look(&self, wall: SystemTime, now: Time) -> Result<Vec<Due>, FolderError> {
        let _looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        if self.documents.has_news() {
            let scan = self.documents.scan(wall)?;
            self.take(scan);
        }
        let mut state = self.state();
        state.forget(now);
        let State { wanted, slots, files, .. } = &mut *state;
        let wanted = wanted.iter().flat_map(|wanted| &wanted.hold);
        let places: BTreeMap<_, _> = wanted.map(|(&shard, &place)| (shard, place)).collect();
        let others = slots.keys().filter(|shard| !places.contains_key(shard));
        let mut held: Vec<_> = places.keys().chain(others).copied().collect();
        // Shards that need not be held come last.
        held.sort_by_key(|shard| places.get(shard).copied().unwrap_or(usize::MAX));
        let due = held.into_iter().filter_map(|shard| {
            let files = files.get(&shard).cloned().unwrap_or_default();
            let is_current = slots.get_mut(&shard).is_some_and(|slot| slot.is_of(&files));
            (!is_current).then_some(Due { shard, files })
        });
        Ok(due.collect())
    }

    /// Builds a shard that is due, or loads it from the storage. Takes as long as reading the shard's files.
    ///
    /// # Errors
    /// If the shard cannot be built. The previous state stays, and [`look`](Self::look) returns the shard again.
    pub fn refresh(&self, due: &Due, now: Time) -> Result<(), BuildError> {
        let Due { shard, files } = due;
        let held = self.state().slots.get(shard).map(|slot| slot.held.clone());
        let held = held.or_else(|| self.storage.load(self.settings, *shard));
        let next = match held {
            Some(held) if unchanged(&held.files, files) => held,
            held => {
                let input = BuildInput { documents: &*self.documents, settings: self.settings, shard: *shard, files };
                build(input, held.as_ref(), &self.storage)?
            }
        };
        self.state().install(*shard, next, now);
        Ok(())
    }

    /// Loads stored shards that are not held yet, if they still match the documents.
    pub fn load_stored(&self, now: Time) {
        for shard in ShardId::all(self.settings.shards.count()) {
            if self.current(shard).is_some() {
                continue;
            }
            let Some(stored) = self.storage.load(self.settings, shard) else { continue };
            let mut state = self.state();
            let files = state.files.get(&shard).cloned().unwrap_or_default();
            if unchanged(&stored.files, &files) && !state.slots.contains_key(&shard) {
                state.install(shard, stored, now);
            }
        }
    }

    /// Number of documents in a shard, as far as known: the files seen, without those found not to be documents.
    #[must_use]
    pub fn expected_documents(&self, shard: ShardId) -> u64 {
        let state = self.state();
        match state.slots.get(&shard) {
            Some(slot) => slot.held.snapshot.documents.len() as u64,
            None => state.files.get(&shard).map_or(0, |files| files.len() as u64),
        }
    }

    /// True if the folder had no documents at the last scan.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state().files.is_empty()
    }

    /// Size of the index.
    #[must_use]
    pub fn size(&self) -> IndexSize {
        let state = self.state();
        IndexSize {
            shards: state.slots.len(),
            wanted: state.wanted.as_ref().map_or(0, |wanted| wanted.hold.len()),
            documents: state.slots.values().map(|slot| slot.held.snapshot.documents.len()).sum(),
            recoded: state
                .slots
                .values()
                .flat_map(|slot| slot.held.files.iter())
                .filter(|file| file.is_recoded())
                .count(),
            links: state.links,
        }
    }

    /// Number of changes to the files and shards so far: while it stays the same, so does the [report](Self::report).
    pub(in crate::search) fn changes(&self) -> u64 {
        self.state().changes
    }

    /// Numbers about the shards of this node.
    #[must_use]
    pub fn report(&self) -> HoldingsReport {
        let state = self.state();
        let mut report = HoldingsReport {
            wanted: state.wanted.as_ref().map_or(0, |wanted| wanted.hold.len()),
            links: state.links,
            ..HoldingsReport::default()
        };
        state.skipped.iter().for_each(|skipped| report.skipped.add(skipped));
        for (shard, slot) in &state.slots {
            report.ready += usize::from(state.wanted.as_ref().is_some_and(|wanted| wanted.hold.contains_key(shard)));
            report.documents += slot.held.snapshot.documents.len() as u64;
            for file in slot.held.files.iter() {
                match file.outcome {
                    FileOutcome::Indexed(charset) => *report.encodings.entry(charset.name()).or_default() += 1,
                    FileOutcome::Skipped(reason) => {
                        report.skipped.add(&Skipped { path: file.path.clone(), reason });
                    }
                }
            }
        }
        report
    }

    /// Current state of a shard.
    pub(in crate::search) fn current(&self, shard: ShardId) -> Option<Arc<Snapshot>> {
        self.state().slots.get(&shard).map(|slot| Arc::clone(&slot.held.snapshot))
    }

    /// Current states of `shards`; `None` if the node lacks one.
    pub(in crate::search) fn all_current(&self, shards: impl Iterator<Item = ShardId>) -> Option<Vec<Arc<Snapshot>>> {
        let state = self.state();
        shards.map(|shard| state.slots.get(&shard).map(|slot| Arc::clone(&slot.held.snapshot))).collect()
    }

    /// Given state of a shard. `Some(None)` if the shard is held, but not in this state any more, or not yet.
    pub(in crate::search) fn state_of(&self, shard: ShardId, id: SnapshotId) -> Option<Option<Arc<Snapshot>>> {
        let state = self.state();
        let slot = state.slots.get(&shard)?;
        let mut kept = core::iter::once(&slot.held.snapshot).chain(slot.previous.iter().map(|(snapshot, _)| snapshot));
        Some(kept.find(|snapshot| snapshot.id == id).map(Arc::clone))
    }

    fn take(&self, scan: Scan) {
        let mut files: BTreeMap<ShardId, Vec<DocumentFile>> = BTreeMap::new();
        for file in scan.documents {
            files.entry(ShardId::of(&file.path, self.settings.shards.count())).or_default().push(file);
        }
        let mut state = self.state();
        state.files = files.into_iter().map(|(shard, files)| (shard, files.into())).collect();
        state.skipped = scan.skipped;
        state.links = scan.links;
        state.changes += 1;
    }

    /// Locks the state. No code that holds the lock panics halfway through a change, so a poisoned lock is safe to use.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// True if these files are certainly the ones from which the index was built.
    fn is_of(&mut self, files: &Arc<[DocumentFile]>) -> bool {
        let is_known = self.same_as.as_ref().is_some_and(|known| Arc::ptr_eq(known, files));
        if !is_known && unchanged(&self.held.files, files) {
            self.same_as = Some(Arc::clone(files));
            return true;
        }
        is_known
    }
}

impl State {
    fn install(&mut self, shard: ShardId, held: Held, now: Time) {
        self.changes += 1;
        self.merging.changed(now);
        let Some(slot) = self.slots.get_mut(&shard) else {
            self.slots.insert(shard, Slot { held, same_as: None, previous: Vec::new(), unwanted_since: None });
            return;
        };
        slot.same_as = None;
        let before = core::mem::replace(&mut slot.held, held);
        if before.snapshot.id != slot.held.snapshot.id {
            slot.previous.push((before.snapshot, now));
        }
    }

    fn forget(&mut self, now: Time) {
        if let Some(wanted) = &self.wanted {
            for (_, slot) in self.slots.iter_mut().filter(|(shard, _)| !wanted.has(**shard)) {
                slot.unwanted_since.get_or_insert(now);
            }
        }
        if Mutant::NothingLetGo.lives() {
            return;
        }
        let before = self.slots.len();
        self.slots.retain(|_, slot| slot.unwanted_since.is_none_or(|since| now.since(since) < KEEP_UNWANTED));
        self.changes += u64::from(self.slots.len() < before);
        for slot in self.slots.values_mut() {
            slot.previous.retain(|&(_, replaced)| now.since(replaced) < KEEP_PREVIOUS);
        }
    }
}

#[cfg(test)]
mod tests;
