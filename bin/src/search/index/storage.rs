//! Storage of indexes, in memory or on disk.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tantivy::Index;
use tantivy::directory::MmapDirectory;

use super::manifest::{FORMAT, FileRecord, Manifest};
use super::snapshot::{Snapshot, register_analyzer};
use crate::search::settings::{Ranking, Settings};
use crate::search::shard::ShardId;

/// Place where indexes are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexStorage {
    /// Memory: indexes are gone with the process.
    Memory,
    /// This folder, so that a restart is quick. An index that is incomplete, damaged or made under other settings is
    /// built again.
    Disk(PathBuf),
}

/// Snapshot with the files that it was built from.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) files: Arc<[FileRecord]>,
}

impl Held {
    pub(super) fn manifest(&self, settings: Settings) -> Manifest {
        let Snapshot { id, shard, ref documents, .. } = *self.snapshot;
        Manifest {
            format: FORMAT,
            settings,
            shard,
            snapshot: id,
            documents: documents.clone(),
            files: self.files.to_vec(),
        }
    }
}

impl IndexStorage {
    /// Loads the stored index of `shard`, if it is whole, and removes everything else from the shard's folder.
    pub(crate) fn load(&self, settings: Settings, shard: ShardId) -> Option<Held> {
        let folder = self.shard_folder(settings, shard)?;
        let mut found = None;
        for entry in fs::read_dir(folder).ok()?.flatten() {
            let path = entry.path();
            if found.is_none() {
                found = open(&path, settings, shard);
                if found.is_some() {
                    continue;
                }
            }
            remove(&path);
        }
        found
    }

    /// Writes the file records of `held` to its stored index, which does not change.
    pub(super) fn update(&self, settings: Settings, held: &Held) -> io::Result<()> {
        match self.shard_folder(settings, held.snapshot.shard) {
            Some(folder) => held.manifest(settings).write(&folder.join(held.snapshot.id.to_string())),
            None => Ok(()),
        }
    }

    /// Removes the indexes of older formats. They are of no use any more: every shard is built again in this one.
    pub(crate) fn remove_older(&self) {
        let Self::Disk(root) = self else { return };
        let Ok(entries) = fs::read_dir(root) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if name.to_str().and_then(format_of).is_some_and(|format| format < FORMAT) {
                tracing::info!(folder = %entry.path().display(), "removing an index of an older version; it is built again");
                remove(&entry.path());
            }
        }
    }

    /// Folder of a shard; `None` in memory.
    pub(super) fn shard_folder(&self, settings: Settings, shard: ShardId) -> Option<PathBuf> {
        match self {
            Self::Memory => None,
            Self::Disk(root) => Some(folder_of(root, settings).join(shard.to_string())),
        }
    }

    /// Removes the merged index with this name.
    pub(crate) fn remove_merged(&self, settings: Settings, name: &str) {
        if let Some(folder) = self.merged_folder(settings, name) {
            remove(&folder);
        }
    }

    /// Folder of the merged index with this name; `None` in memory.
    pub(super) fn merged_folder(&self, settings: Settings, name: &str) -> Option<PathBuf> {
        match self {
            Self::Memory => None,
            Self::Disk(root) => Some(folder_of(root, settings).join(format!("merged-{name}"))),
        }
    }
}

/// Folder of all indexes under these settings.
fn folder_of(root: &Path, settings: Settings) -> PathBuf {
    let Settings { shards, ranking } = settings;
    root.join(format!("v{FORMAT}-{}-{ranking}", shards.count()))
}

/// Format of the indexes in the folder `name`, such as `v2-64-bm25`; `None` if it is no such folder.
fn format_of(name: &str) -> Option<u32> {
    let (format, settings) = name.strip_prefix('v')?.split_once('-')?;
    let (shards, ranking) = settings.split_once('-')?;
    let is_ours = shards.parse::<u16>().is_ok() && ranking.parse::<Ranking>().is_ok();
    if is_ours { format.parse().ok() } else { None }
}

/// Makes an empty folder in `shard_folder`, beside the snapshots, in which the next snapshot is written.
pub(super) fn draft(shard_folder: &Path) -> io::Result<PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let draft = shard_folder.join(format!("new-{}-{number}", std::process::id()));
    match fs::remove_dir_all(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    fs::create_dir_all(&draft)?;
    Ok(draft)
}

/// Removes everything else from the shard's folder and moves a finished draft to its place there.
pub(super) fn publish(draft: &Path, shard_folder: &Path, name: &str) -> io::Result<()> {
    let place = shard_folder.join(name);
    for entry in fs::read_dir(shard_folder)?.flatten() {
        if entry.path() != draft {
            remove(&entry.path());
        }
    }
    fs::rename(draft, place)?;
    // Makes the new name survive a loss of power.
    fs::File::open(shard_folder)?.sync_all()
}

/// Removes a file or folder. A failure only costs space, so it is logged; the next cleanup tries again.
pub(super) fn remove(path: &Path) {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    if let Err(error) = removed
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), %error, "cannot remove an old index; it only takes up space");
    }
}

/// Opens the snapshot in `folder`, if it is whole, undamaged and made under these settings. tantivy may panic on damaged
/// files that no checksum covers; such a panic counts as damage.
fn open(folder: &Path, settings: Settings, shard: ShardId) -> Option<Held> {
    let manifest = Manifest::read(folder)?;
    if (manifest.format, manifest.settings, manifest.shard) != (FORMAT, settings, shard) {
        return None;
    }
    let opened = catch_unwind(AssertUnwindSafe(|| open_snapshot(folder, &manifest)));
    match opened {
        Ok(Ok(snapshot)) => Some(Held { snapshot: Arc::new(snapshot), files: manifest.files.into() }),
        Ok(Err(error)) => {
            tracing::warn!(folder = %folder.display(), %error, "the index is damaged; building it again");
            None
        }
        Err(_) => {
            tracing::warn!(folder = %folder.display(), "the index is damaged; building it again");
            None
        }
    }
}

fn open_snapshot(folder: &Path, manifest: &Manifest) -> tantivy::Result<Snapshot> {
    let documents = manifest.documents.clone();
    let (id, shard) = (manifest.snapshot, manifest.shard);
    if documents.is_empty() {
        return Snapshot::new(id, shard, documents, None);
    }
    Snapshot::new(id, shard, documents, Some(&open_index(folder, manifest.settings.ranking)?))
}

/// Opens an index, which was just written, at the place to which it has been moved: merging reads its files again.
pub(super) fn reopened(held: Held, folder: &Path, ranking: Ranking) -> tantivy::Result<Held> {
    let Snapshot { id, shard, ref documents, ref segment, .. } = *held.snapshot;
    if segment.is_none() {
        return Ok(held);
    }
    let index = Index::open(MmapDirectory::open(folder)?)?;
    register_analyzer(&index, ranking);
    let snapshot = Snapshot::new(id, shard, documents.clone(), Some(&index))?;
    Ok(Held { snapshot: Arc::new(snapshot), files: held.files })
}

/// Opens the index in `folder`, if its files match their checksums.
pub(super) fn open_index(folder: &Path, ranking: Ranking) -> tantivy::Result<Index> {
    let index = Index::open(MmapDirectory::open(folder)?)?;
    register_analyzer(&index, ranking);
    let damaged = index.validate_checksum()?;
    if damaged.is_empty() {
        return Ok(index);
    }
    Err(tantivy::TantivyError::InvalidArgument(format!("{damaged:?} do not match their checksums")))
}
