//! One index over several shards, so that a query looks its words up once and not in every shard.
//!
//! Shards are the unit of placement; what is evaluated together may be larger. A score is a sum over the leaves of a query for
//! one document, so it is the same to the last bit in whichever index the document stands.

use core::fmt;
use std::io;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Arc;

use tantivy::directory::{MmapDirectory, RamDirectory};
use tantivy::indexer::merge_indices;
use tantivy::{Index, TantivyError};

use super::build::BuildError;
use super::evaluate::{Matches, Scorer, matches};
use super::occurrences::{documents_with, each_document_with};
use super::snapshot::{Segment, Snapshot, SnapshotId};
use super::storage::{IndexStorage, draft, open_index, publish, remove};
use super::top::Top;
use crate::search::hash::StableHash;
use crate::search::settings::Settings;
use crate::search::shard::ShardId;
use crate::search::weights::Statistics;

/// Index over several snapshots.
pub(crate) struct Merged {
    parts: Vec<Part>,
    lengths: Vec<u8>,
    segment: Segment,
}

/// Snapshot in a merged index, with the numbers of its documents there.
struct Part {
    first: u32,
    end: u32,
    snapshot: Arc<Snapshot>,
}

impl fmt::Debug for Merged {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Merged index of {} shards, {} documents", self.parts.len(), self.lengths.len())
    }
}

impl Merged {
    /// Merges snapshots that have documents, at least one, ordered by shard, or opens the stored index over them. Takes as long as
    /// copying them.
    ///
    /// # Errors
    /// If the index cannot be written.
    pub(crate) fn new(
        snapshots: Vec<Arc<Snapshot>>,
        name: &str,
        settings: Settings,
        storage: &IndexStorage,
    ) -> Result<Self, BuildError> {
        let index = match storage.merged_folder(settings, name) {
            None => merge(&snapshots, RamDirectory::create())?,
            Some(folder) => {
                let place = folder.join(identity(&snapshots).to_string());
                // tantivy may panic on damaged files that no checksum covers; such a panic counts as damage.
                let stored = place.exists().then(|| catch_unwind(|| open_index(&place, settings.ranking)));
                if let Some(Ok(Ok(index))) = stored {
                    index
                } else {
                    store(&snapshots, &folder)?;
                    open_index(&place, settings.ranking)?
                }
            }
        };
        Ok(Self::over(snapshots, Segment::open(&index)?)?)
    }

    fn over(snapshots: Vec<Arc<Snapshot>>, segment: Segment) -> tantivy::Result<Self> {
        let mut end = 0;
        let parts = snapshots.into_iter().map(|snapshot| {
            let first = end;
            end += u32::try_from(snapshot.documents.len()).expect("a segment has fewer documents");
            Part { first, end, snapshot }
        });
        let parts: Vec<_> = parts.collect();
        let lengths: Vec<_> = parts.iter().flat_map(|part| part.snapshot.lengths.iter().copied()).collect();
        if segment.documents() != lengths.len() {
            let message = format!("{} documents are merged, {} are listed", segment.documents(), lengths.len());
            return Err(TantivyError::InvalidArgument(message));
        }
        Ok(Self { parts, lengths, segment })
    }

    /// True if the index is over exactly these snapshots.
    pub(crate) fn is_over(&self, snapshots: &[Arc<Snapshot>]) -> bool {
        let ids = self.parts.iter().map(|part| (part.snapshot.shard, part.snapshot.id));
        ids.eq(snapshots.iter().map(|snapshot| (snapshot.shard, snapshot.id)))
    }

    /// Number of documents.
    pub(crate) fn documents(&self) -> usize {
        self.lengths.len()
    }

    /// True if the index contains this snapshot.
    pub(crate) fn has(&self, snapshot: &Snapshot) -> bool {
        let found = self.parts.binary_search_by_key(&snapshot.shard, |part| part.snapshot.shard);
        found.is_ok_and(|index| self.parts[index].snapshot.id == snapshot.id)
    }

    /// True if all its shards are among these.
    pub(crate) fn is_within(&self, has: impl Fn(ShardId) -> bool) -> bool {
        self.parts.iter().all(|part| has(part.snapshot.shard))
    }

    /// Statistics of all its shards together for `terms`.
    pub(crate) fn sum(&self, terms: &[String]) -> io::Result<Statistics> {
        Ok(Statistics {
            documents: self.lengths.len() as u64,
            words: self.parts.iter().map(|part| part.snapshot.words).sum(),
            frequencies: terms.iter().map(|term| documents_with(&self.segment, term)).collect::<Result<_, _>>()?,
        })
    }

    /// Statistics of each of its shards for `terms`.
    pub(crate) fn statistics(&self, terms: &[String]) -> io::Result<Vec<(&Snapshot, Statistics)>> {
        let empty = |part: &Part| {
            let Snapshot { documents, words, .. } = &*part.snapshot;
            Statistics {
                documents: documents.len() as u64,
                words: *words,
                frequencies: Vec::with_capacity(terms.len()),
            }
        };
        let mut answered: Vec<_> = self.parts.iter().map(empty).collect();
        for term in terms {
            answered.iter_mut().for_each(|statistics| statistics.frequencies.push(0));
            let mut current = 0;
            each_document_with(&self.segment, term, |document| {
                while document >= self.parts[current].end {
                    current += 1;
                }
                *answered[current].frequencies.last_mut().expect("it was just pushed") += 1;
            })?;
        }
        Ok(self.parts.iter().map(|part| &*part.snapshot).zip(answered).collect())
    }

    /// Offers the matching documents of the shards that are wanted to `top`. Returns the number of matches in each of these.
    pub(crate) fn search<'s>(
        &'s self,
        scorer: &Scorer<'_>,
        wanted: impl Fn(ShardId) -> bool,
        top: &mut Top<'s>,
    ) -> io::Result<Vec<(ShardId, u64)>> {
        let words = |document: u32| {
            let part = &self.parts[self.parts.partition_point(|part| part.end <= document)];
            part.snapshot.documents[(document - part.first) as usize].words
        };
        let Matches { scores, matching } = matches(&self.segment, scorer, &self.lengths, words)?;
        let mut documents = matching.iter().peekable();
        let mut counts = Vec::with_capacity(self.parts.len());
        for Part { first, end, snapshot } in &self.parts {
            let is_wanted = wanted(snapshot.shard);
            let mut count = 0;
            while let Some(document) = documents.next_if(|document| document < end) {
                if is_wanted {
                    count += 1;
                    snapshot.offer(document - first, scores[document as usize], top);
                }
            }
            if is_wanted {
                counts.push((snapshot.shard, count));
            }
        }
        Ok(counts)
    }
}

fn merge(snapshots: &[Arc<Snapshot>], directory: impl Into<Box<dyn tantivy::Directory>>) -> tantivy::Result<Index> {
    let indexes: Vec<_> =
        snapshots.iter().filter_map(|snapshot| Some(snapshot.segment.as_ref()?.index.clone())).collect();
    merge_indices(&indexes, directory)
}

/// Merges into `folder`, in the place of any index there.
fn store(snapshots: &[Arc<Snapshot>], folder: &Path) -> Result<(), BuildError> {
    let draft = draft(folder)?;
    let directory = MmapDirectory::open(&draft).map_err(TantivyError::from);
    let stored = directory.and_then(|directory| merge(snapshots, directory)).map_err(BuildError::from);
    let published =
        stored.and_then(|_| publish(&draft, folder, &identity(snapshots).to_string()).map_err(BuildError::from));
    if published.is_err() {
        remove(&draft);
    }
    published
}

/// Identity of the index over these snapshots.
fn identity(snapshots: &[Arc<Snapshot>]) -> SnapshotId {
    let hash = snapshots
        .iter()
        .fold(StableHash::new(), |hash, snapshot| hash.number(u64::from(snapshot.shard.0)).number(snapshot.id.0));
    SnapshotId(hash.finish())
}
