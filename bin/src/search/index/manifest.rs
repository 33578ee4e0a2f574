//! What stands beside an index on disk: which files it was made of.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::snapshot::{Document, SnapshotId};
use crate::search::documents::{DocumentFile, SkipReason, Stamp};
use crate::search::hash::StableHash;
use crate::search::settings::Settings;
use crate::search::shard::ShardId;

/// Raised whenever an index of an earlier version would be another: it is then built anew.
pub(super) const FORMAT: u32 = 1;

/// What an index was made of.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format: u32,
    pub(super) settings: Settings,
    pub(super) shard: ShardId,
    pub(super) snapshot: SnapshotId,
    pub(super) documents: Vec<Document>,
    pub(super) files: Vec<FileRecord>,
}

/// A file as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    pub(crate) path: String,
    pub(crate) stamp: Stamp,
    /// Whether an unchanged stamp shows that the file is unchanged.
    pub(crate) settled: bool,
    pub(crate) outcome: Outcome,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Indexed,
    Skipped(SkipReason),
}

/// Whether the files that were found are surely those that were read.
pub(crate) fn unchanged(records: &[FileRecord], files: &[DocumentFile]) -> bool {
    records.len() == files.len()
        && records
            .iter()
            .zip(files)
            .all(|(record, file)| record.settled && record.path == file.path && record.stamp == file.stamp)
}

/// With an ending that no document has: an index that lies in the documents folder must not be searched, nor change what it
/// is made of.
const NAME: &str = "manifest.json";

impl Manifest {
    /// Writes it into `folder`, whole or not at all. Its last line is a checksum of what is before.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let mut text = serde_json::to_string(self)?;
        text.push('\n');
        text.push_str(&format!("{:016x}\n", checksum(&text)));
        let draft = folder.join("manifest.json.new");
        std::fs::write(&draft, text)?;
        std::fs::File::open(&draft)?.sync_all()?;
        std::fs::rename(draft, folder.join(NAME))
    }

    /// The manifest in `folder`, if it is whole.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(folder.join(NAME)).ok()?;
        let end = text.find('\n')? + 1;
        let (json, sum) = text.split_at(end);
        if u64::from_str_radix(sum.trim_end(), 16) != Ok(checksum(json)) {
            return None;
        }
        serde_json::from_str(json).ok()
    }
}

fn checksum(text: &str) -> u64 {
    StableHash::new().part(text.as_bytes()).finish()
}
