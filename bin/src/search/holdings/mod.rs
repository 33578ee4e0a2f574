//! The shards that a node holds: which it wants, which it has, and which state of each.
//!
//! ```text
//! share, as told ─┐
//!                 ├─► look: due shards ──► refresh each ──► current snapshot, the one before for some seconds
//! files ──────────┘                                             └─► answer tasks
//! ```
//! Whoever calls decides on which threads the work is done; time is passed in.

mod told;

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use rolecall_core::Time;
use serde::Serialize;
use tokio::sync::watch;

use crate::mutant::Mutant;
use crate::search::documents::{DocumentFile, FolderError, Scan, Skipped, SkippedReport, Source};
use crate::search::index::{BuildError, FileOutcome, Held, Plan, Snapshot, SnapshotId, Storage, build, unchanged};
use crate::search::settings::Settings;
use crate::search::shard::ShardId;
use told::{Followed, Wanted};

/// How long the state before is kept, for queries between two rounds.
const KEEP_PREVIOUS: Duration = Duration::from_secs(10);
/// Time for which a shard is kept up to date that is no longer to be held, so that one which moves back is still there.
pub const KEEP_UNWANTED: Duration = Duration::from_secs(60);

/// The shards that a node holds.
#[derive(Debug)]
pub struct Holdings {
    documents: Arc<dyn Source>,
    settings: Settings,
    storage: Storage,
    state: Mutex<State>,
    /// Number of times that what is to be held has changed.
    renewals: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    /// What it is to hold; `None` before anybody has said so.
    wanted: Option<Wanted>,
    /// The plan that says so.
    followed: Option<Followed>,
    building: BTreeSet<ShardId>,
    slots: BTreeMap<ShardId, Slot>,
    /// The files of each shard that has any, as last seen.
    files: BTreeMap<ShardId, Arc<[DocumentFile]>>,
    skipped: Vec<Skipped>,
}

#[derive(Debug)]
struct Slot {
    held: Held,
    /// Earlier states, and when each was replaced.
    previous: Vec<(Arc<Snapshot>, Time)>,
    /// When it was first found not to be wanted any more.
    unwanted_since: Option<Time>,
}

/// A shard whose files are not those of its index.
#[derive(Clone, Debug)]
pub struct Due {
    /// Which.
    pub shard: ShardId,
    files: Arc<[DocumentFile]>,
}

/// Size of a node's index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IndexSize {
    /// Shards that it holds.
    pub shards: usize,
    /// Shards that it is to hold.
    pub wanted: usize,
    /// Documents in the shards that it holds.
    pub documents: usize,
}

/// What a node holds, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HoldingsReport {
    /// Shards that it is to hold.
    pub wanted: usize,
    /// Of these, shards that it does hold.
    pub ready: usize,
    /// Documents in the shards that it holds.
    pub documents: u64,
    /// Files in the folder that are not searched; those with bad contents only of the shards that it holds.
    pub skipped: SkippedReport,
}

impl Holdings {
    /// Holds nothing yet of the documents in `folder`.
    ///
    /// # Errors
    /// If there is no such folder or it cannot be read.
    pub fn open(folder: &Path, settings: Settings, storage: Storage, now: SystemTime) -> Result<Self, FolderError> {
        Self::of(Arc::new(folder.to_owned()), settings, storage, now)
    }

    /// Holds nothing yet of `documents`.
    ///
    /// # Errors
    /// If it cannot be told which there are.
    pub fn of(
        documents: Arc<dyn Source>,
        settings: Settings,
        storage: Storage,
        now: SystemTime,
    ) -> Result<Self, FolderError> {
        let scan = documents.scan(now)?;
        let renewals = watch::Sender::new(0);
        let holdings = Self { documents, settings, storage, state: Mutex::default(), renewals };
        holdings.take(scan);
        Ok(holdings)
    }

    /// The settings of its cluster.
    #[must_use]
    pub const fn settings(&self) -> Settings {
        self.settings
    }

    /// Looks at the folder and tells which shards are to be [refreshed](Self::refresh).
    ///
    /// # Errors
    /// If the folder cannot be read: what is held stays as it is.
    pub fn look(&self, wall: SystemTime, now: Time) -> Result<Vec<Due>, FolderError> {
        let scan = self.documents.scan(wall)?;
        self.take(scan);
        let mut state = self.state();
        state.forget(now);
        let State { wanted, slots, files, .. } = &*state;
        let wanted = wanted.iter().flat_map(|wanted| &wanted.hold);
        let places: BTreeMap<_, _> = wanted.map(|(&shard, &place)| (shard, place)).collect();
        let mut held: Vec<_> = places.keys().chain(slots.keys().filter(|shard| !places.contains_key(shard))).collect();
        // What is not to be held comes last.
        held.sort_by_key(|shard| places.get(shard).copied().unwrap_or(usize::MAX));
        let due = held.into_iter().copied().filter_map(|shard| {
            let files = files.get(&shard).cloned().unwrap_or_default();
            let current = slots.get(&shard).is_some_and(|slot| unchanged(&slot.held.files, &files));
            (!current).then_some(Due { shard, files })
        });
        Ok(due.collect())
    }

    /// Builds what is due, or finds it in the storage. Takes as long as it takes to read the shard's files.
    ///
    /// # Errors
    /// If it could not be built: the state before stays, and [`look`](Self::look) tells of it again.
    pub fn refresh(&self, due: &Due, now: Time) -> Result<(), BuildError> {
        let Due { shard, files } = due;
        let held = self.state().slots.get(shard).map(|slot| slot.held.clone());
        let held = held.or_else(|| self.storage.load(self.settings, *shard));
        let next = match held {
            Some(held) if unchanged(&held.files, files) => held,
            held => {
                let plan = Plan { documents: &*self.documents, settings: self.settings, shard: *shard, files };
                build(plan, held.as_ref(), &self.storage)?
            }
        };
        self.state().install(*shard, next, now);
        Ok(())
    }

    /// Takes into its holdings what the storage has of shards that are not held, where that is still true of the documents.
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

    /// How many documents a shard has, as far as is known: files that were seen, less those found not to be documents.
    #[must_use]
    pub fn expected_documents(&self, shard: ShardId) -> u64 {
        let state = self.state();
        match state.slots.get(&shard) {
            Some(slot) => slot.held.snapshot.documents.len() as u64,
            None => state.files.get(&shard).map_or(0, |files| files.len() as u64),
        }
    }

    /// Whether the folder had no documents when it was last looked at.
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
        }
    }

    /// What it holds, in numbers.
    #[must_use]
    pub fn report(&self) -> HoldingsReport {
        let state = self.state();
        let mut report = HoldingsReport {
            wanted: state.wanted.as_ref().map_or(0, |wanted| wanted.hold.len()),
            ..HoldingsReport::default()
        };
        state.skipped.iter().for_each(|skipped| report.skipped.add(skipped));
        for (shard, slot) in &state.slots {
            report.ready += usize::from(state.wanted.as_ref().is_some_and(|wanted| wanted.hold.contains_key(shard)));
            report.documents += slot.held.snapshot.documents.len() as u64;
            for file in slot.held.files.iter() {
                if let FileOutcome::Skipped(reason) = file.outcome {
                    report.skipped.add(&Skipped { path: file.path.clone(), reason });
                }
            }
        }
        report
    }

    /// The current state of a shard.
    pub(in crate::search) fn current(&self, shard: ShardId) -> Option<Arc<Snapshot>> {
        self.state().slots.get(&shard).map(|slot| Arc::clone(&slot.held.snapshot))
    }

    /// A certain state of a shard: `Some(None)` if the shard is held, but not in this state any more, or not yet.
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
    }

    /// Nothing under the lock can panic halfway through a change, so what a panic elsewhere left is whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn install(&mut self, shard: ShardId, held: Held, now: Time) {
        let Some(slot) = self.slots.get_mut(&shard) else {
            self.slots.insert(shard, Slot { held, previous: Vec::new(), unwanted_since: None });
            return;
        };
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
        self.slots.retain(|_, slot| slot.unwanted_since.is_none_or(|since| now.since(since) < KEEP_UNWANTED));
        for slot in self.slots.values_mut() {
            slot.previous.retain(|&(_, replaced)| now.since(replaced) < KEEP_PREVIOUS);
        }
    }
}

#[cfg(test)]
mod tests;
