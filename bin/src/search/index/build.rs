//! Builds the index of a shard from files.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tantivy::directory::{MmapDirectory, RamDirectory};
use tantivy::indexer::SingleSegmentIndexWriter;
use tantivy::{Directory, Index, IndexBuilder, IndexSettings, TantivyDocument};

use super::manifest::{FORMAT, FileOutcome, FileRecord};
use super::snapshot::{Document, Fields, Snapshot, SnapshotId, register_analyzer, schema};
use super::storage::{Held, IndexStorage, draft, publish, remove, reopened};
use crate::search::analysis;
use crate::search::documents::{self, Content, DocumentFile, SkipReason, Source, Text};
use crate::search::hash::StableHash;
use crate::search::settings::Settings;
use crate::search::shard::ShardId;

/// Input from which an index is built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuildInput<'a> {
    pub(crate) documents: &'a dyn Source,
    pub(crate) settings: Settings,
    pub(crate) shard: ShardId,
    /// Files of the shard, ordered by path.
    pub(crate) files: &'a [DocumentFile],
}

/// Failure to build an index. The previous index stays in use.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The folder of the index could not be written.
    #[error("cannot write the index: {0}")]
    Io(#[from] io::Error),
    /// tantivy failed.
    #[error("cannot build the index: {0}")]
    Index(#[from] tantivy::TantivyError),
}

/// Reads the files and builds the index. If their contents are those of `current`, keeps the snapshot of `current`.
///
/// # Errors
/// If the index cannot be built or stored. A file that cannot be read is skipped, which is not an error.
pub(crate) fn build(input: BuildInput<'_>, current: Option<&Held>, storage: &IndexStorage) -> Result<Held, BuildError> {
    if let Some(current) = current
        && let Some(files) = only_stamps_changed(input, current)
    {
        let held = Held { snapshot: Arc::clone(&current.snapshot), files };
        storage.update(input.settings, &held)?;
        return Ok(held);
    }
    match storage.shard_folder(input.settings, input.shard) {
        None => Ok(write(input, &RamDirectory::create())?.1),
        Some(folder) => {
            let draft = draft(&folder)?;
            let kept = keep(input, &draft, &folder);
            if kept.is_err() {
                // Otherwise every attempt on a full disk would leave another draft behind.
                remove(&draft);
            }
            kept
        }
    }
}

/// Builds the index in the folder `draft` and moves it into the shard's folder.
fn keep(input: BuildInput<'_>, draft: &Path, shard_folder: &Path) -> Result<Held, BuildError> {
    let (index, held) = write(input, &MmapDirectory::open(draft).map_err(tantivy::TantivyError::from)?)?;
    drop(index);
    held.manifest(input.settings).write(draft)?;
    let name = held.snapshot.id.to_string();
    publish(draft, shard_folder, &name)?;
    Ok(reopened(held, &shard_folder.join(name), input.settings.ranking)?)
}

/// Records of the files with their present stamps, if their contents are those of `current`.
fn only_stamps_changed(input: BuildInput<'_>, current: &Held) -> Option<Arc<[FileRecord]>> {
    let same =
        |(record, file): (&FileRecord, &DocumentFile)| record.path == file.path && record.stamp.size == file.stamp.size;
    if current.files.len() != input.files.len() || !current.files.iter().zip(input.files).all(same) {
        return None;
    }
    let mut identity = Identity::new(input);
    for file in input.files {
        identity.add(&file.path, documents::read(input.documents, file).ok()?.hash);
    }
    (identity.finish() == current.snapshot.id).then(|| {
        let records = current.files.iter().zip(input.files);
        records
            .map(|(record, file)| FileRecord { stamp: file.stamp, settled: file.settled, ..record.clone() })
            .collect()
    })
}

fn write<D: Directory + Clone>(input: BuildInput<'_>, directory: &D) -> Result<(Option<Index>, Held), BuildError> {
    if input.files.is_empty() {
        let snapshot = Snapshot::new(Identity::new(input).finish(), input.shard, Vec::new(), None)?;
        return Ok((None, Held { snapshot: Arc::new(snapshot), files: Arc::default() }));
    }
    let mut writer = Writer::new(input, directory.clone())?;
    for file in input.files {
        writer.add(file)?;
    }
    writer.finish()
}

struct Writer<'a> {
    input: BuildInput<'a>,
    index: SingleSegmentIndexWriter,
    fields: Fields,
    analyzer: tantivy::tokenizer::TextAnalyzer,
    identity: Identity,
    documents: Vec<Document>,
    files: Vec<FileRecord>,
}

impl<'a> Writer<'a> {
    fn new(input: BuildInput<'a>, directory: impl Directory) -> Result<Self, BuildError> {
        let (schema, fields) = schema();
        let bytes: u64 = input.files.iter().map(|file| file.stamp.size).sum();
        let tokenizers = tantivy::tokenizer::TokenizerManager::default();
        tokenizers.register(analysis::ANALYZER, analysis::analyzer(input.settings.ranking));
        let index = IndexBuilder::new()
            .schema(schema)
            .tokenizers(tokenizers)
            // By default, tantivy starts a thread to compress stored texts.
            .settings(IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() })
            .single_segment_index_writer(Box::new(directory) as Box<dyn Directory>, memory_budget(bytes))?;
        Ok(Self {
            input,
            index,
            fields,
            analyzer: analysis::analyzer(input.settings.ranking),
            identity: Identity::new(input),
            documents: Vec::new(),
            files: Vec::new(),
        })
    }

    fn add(&mut self, file: &DocumentFile) -> Result<(), BuildError> {
        let mut settled = file.settled;
        let text = match documents::read(self.input.documents, file) {
            Ok(contents) => {
                self.identity.add(&file.path, contents.hash);
                contents.text.and_then(|(text, charset)| {
                    documents::extract(file.kind, &file.path, text).map(|text| (text, charset))
                })
            }
            // Gone since the scan found it: treat it as never found.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                // A change of permissions changes the stamp. Other errors may go away without changing it.
                settled = error.kind() == io::ErrorKind::PermissionDenied;
                Err(SkipReason::Unreadable)
            }
        };
        let outcome = match text {
            Ok((text, charset)) => {
                self.index(&file.path, text)?;
                FileOutcome::Indexed(charset)
            }
            Err(reason) => FileOutcome::Skipped(reason),
        };
        self.files.push(FileRecord { path: file.path.clone(), stamp: file.stamp, settled, outcome });
        Ok(())
    }

    fn index(&mut self, path: &str, text: Text) -> Result<(), BuildError> {
        let Text { title, title_is_apart, body } = text;
        let mut words = analysis::count(&mut self.analyzer, &body);
        let mut document = TantivyDocument::new();
        if title_is_apart {
            words += analysis::count(&mut self.analyzer, &title);
            document.add_text(self.fields.text, &title);
        }
        document.add_text(self.fields.text, &body);
        document.add_text(self.fields.body, &body);
        self.index.add_document(document)?;
        self.documents.push(Document { path: path.to_owned(), title, words });
        Ok(())
    }

    fn finish(self) -> Result<(Option<Index>, Held), BuildError> {
        let Self { input, index, identity, documents, files, .. } = self;
        let index = if documents.is_empty() { None } else { Some(index.finalize()?) };
        if let Some(index) = &index {
            register_analyzer(index, input.settings.ranking);
        }
        let snapshot = Snapshot::new(identity.finish(), input.shard, documents, index.as_ref())?;
        Ok((index, Held { snapshot: Arc::new(snapshot), files: files.into() }))
    }
}

/// Initial memory for the terms of a shard, in bytes. It grows as needed.
fn memory_budget(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX).clamp(1 << 20, 64 << 20)
}

/// Hash of everything that affects search results, from which the snapshot's id is made.
struct Identity(StableHash);

impl Identity {
    fn new(input: BuildInput<'_>) -> Self {
        let Settings { shards, ranking } = input.settings;
        Self(
            StableHash::new()
                .number(u64::from(FORMAT))
                .part(ranking.to_string().as_bytes())
                .number(u64::from(shards.count()))
                .number(u64::from(input.shard.0)),
        )
    }

    fn add(&mut self, path: &str, content: Content) {
        self.0 = self.0.part(path.as_bytes()).number(content);
    }

    fn finish(&self) -> SnapshotId {
        SnapshotId(self.0.finish())
    }
}
