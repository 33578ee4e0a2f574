//! Record, stored with an index on disk, of the files that it was built from.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::snapshot::{Document, SnapshotId};
use crate::search::documents::{Charset, DocumentFile, SkipReason, Stamp};
use crate::search::hash::StableHash;
use crate::search::settings::Settings;
use crate::search::shard::ShardId;

/// Version of the format. Raise it whenever the same files would give a different index: old ones are then rebuilt.
pub(super) const FORMAT: u32 = 2;

/// Input from which an index was built.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format: u32,
    pub(super) settings: Settings,
    pub(super) shard: ShardId,
    pub(super) snapshot: SnapshotId,
    pub(super) documents: Vec<Document>,
    pub(super) files: Vec<FileRecord>,
}

/// State of a file when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    pub(crate) path: String,
    pub(crate) stamp: Stamp,
    /// True if an unchanged stamp proves that the file is unchanged.
    pub(crate) settled: bool,
    pub(crate) outcome: FileOutcome,
}

impl FileRecord {
    /// True if the file is a document whose text is not in UTF-8.
    pub(crate) fn is_recoded(&self) -> bool {
        match self.outcome {
            FileOutcome::Indexed(charset) => charset != Charset::UTF_8,
            FileOutcome::Skipped(_) => false,
        }
    }
}

/// Result of reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FileOutcome {
    /// Indexed, with the encoding of its text.
    Indexed(Charset),
    Skipped(SkipReason),
}

/// True if the files found now are certainly the ones that were read.
pub(crate) fn unchanged(records: &[FileRecord], files: &[DocumentFile]) -> bool {
    records.len() == files.len()
        && records
            .iter()
            .zip(files)
            .all(|(record, file)| record.settled && record.path == file.path && record.stamp == file.stamp)
}

/// Name with an extension that no document has. Even if the index lies inside the documents folder, it must not be
/// searched, nor change its own contents.
const NAME: &str = "manifest.json";

impl Manifest {
    /// Writes the manifest into `folder`, whole or not at all. The last line is a checksum of the text before it.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let mut text = serde_json::to_string(self)?;
        text.push('\n');
        text.push_str(&format!("{:016x}\n", checksum(&text)));
        let draft = folder.join("manifest.json.new");
        std::fs::write(&draft, text)?;
        std::fs::File::open(&draft)?.sync_all()?;
        std::fs::rename(draft, folder.join(NAME))
    }

    /// Reads the manifest in `folder`, if it is whole.
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
