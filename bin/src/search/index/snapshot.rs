//! State of a shard at one time, opened for searching.

use core::fmt;
use core::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions, Value};
use tantivy::store::StoreReader;
use tantivy::{Index, InvertedIndexReader, SegmentReader, TantivyDocument, Term};

use crate::search::analysis::{ANALYZER, analyzer};
use crate::search::settings::Ranking;
use crate::search::shard::ShardId;

/// Identity of a shard's state: a hash of the paths and contents of its files. Two workers that read the same files hold
/// snapshots with the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SnapshotId(pub u64);

impl fmt::Display for SnapshotId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl FromStr for SnapshotId {
    type Err = core::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

impl TryFrom<String> for SnapshotId {
    type Error = core::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<SnapshotId> for String {
    fn from(id: SnapshotId) -> Self {
        id.to_string()
    }
}

/// Facts about a document that are known without reading its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Path relative to the documents folder.
    pub path: String,
    /// Title that the document gives itself, or else the name of its file.
    pub title: String,
    /// Number of words in the document.
    pub words: u64,
}

/// State of a shard at one time. Documents are numbered in the order of their paths.
pub struct Snapshot {
    /// Identity of the state.
    pub id: SnapshotId,
    /// The shard.
    pub shard: ShardId,
    /// Documents, ordered by path.
    pub documents: Vec<Document>,
    /// Number of words in all documents together.
    pub words: u64,
    /// Length of each document, as one of the 256 that are told apart.
    pub(super) lengths: Vec<u8>,
    /// Open index; `None` if the shard has no documents.
    pub(super) segment: Option<Segment>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, shard, documents, words, lengths: _, segment: _ } = self;
        write!(formatter, "Snapshot {id} of shard {shard}: {} documents, {words} words", documents.len())
    }
}

impl Snapshot {
    pub(super) fn new(
        id: SnapshotId,
        shard: ShardId,
        documents: Vec<Document>,
        index: Option<&Index>,
    ) -> tantivy::Result<Self> {
        let segment = index.map(Segment::open).transpose()?;
        let indexed = segment.as_ref().map_or(0, Segment::documents);
        if indexed != documents.len() {
            let message = format!("{indexed} documents are indexed, {} are listed", documents.len());
            return Err(tantivy::TantivyError::InvalidArgument(message));
        }
        let words = documents.iter().map(|document| document.words).sum();
        // The lengths that tantivy keeps count loose forms too.
        let length = |document: &Document| u32::try_from(document.words).unwrap_or(u32::MAX);
        let lengths = documents.iter().map(|document| FieldNormReader::fieldnorm_to_id(length(document))).collect();
        Ok(Self { id, shard, documents, words, lengths, segment })
    }

    /// Number of the document at `path`.
    pub(super) fn number(&self, path: &str) -> Option<u32> {
        let index = self.documents.binary_search_by(|document| document.path.as_str().cmp(path)).ok()?;
        u32::try_from(index).ok()
    }
}

/// Open index files of a snapshot.
pub(super) struct Segment {
    pub(super) index: Index,
    reader: SegmentReader,
    pub(super) terms: Arc<InvertedIndexReader>,
    store: StoreReader,
    fields: Fields,
}

impl Segment {
    pub(super) fn open(index: &Index) -> tantivy::Result<Self> {
        let segments = index.searchable_segments()?;
        let [segment] = segments.as_slice() else {
            let message = format!("expected one segment, found {}", segments.len());
            return Err(tantivy::TantivyError::InvalidArgument(message));
        };
        let fields = Fields::of(&index.schema())?;
        let reader = SegmentReader::open(segment)?;
        let (terms, store) = (reader.inverted_index(fields.text)?, reader.get_store_reader(1)?);
        Ok(Self { index: index.clone(), terms, store, fields, reader })
    }

    /// Number of documents.
    pub(super) fn documents(&self) -> usize {
        self.reader.max_doc() as usize
    }

    pub(super) fn term(&self, text: &str) -> Term {
        Term::from_field_text(self.fields.text, text)
    }

    /// Text of a document.
    pub(super) fn body(&self, document: u32) -> tantivy::Result<String> {
        let stored: TantivyDocument = self.store.get(document)?;
        let body = stored.get_first(self.fields.body).and_then(|value| value.as_str().map(str::to_owned));
        Ok(body.unwrap_or_default())
    }
}

/// Fields of an index: `text` is searched, `body` is shown.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    pub(super) text: Field,
    pub(super) body: Field,
}

impl Fields {
    fn of(schema: &Schema) -> tantivy::Result<Self> {
        Ok(Self { text: schema.get_field("text")?, body: schema.get_field("body")? })
    }
}

/// Schema of every index.
pub(super) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexing =
        TextFieldIndexing::default().set_tokenizer(ANALYZER).set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let text = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
    let body = schema.add_text_field("body", TextOptions::default().set_stored());
    (schema.build(), Fields { text, body })
}

/// Makes the analyzer known to `index`, which looks it up by name.
pub(super) fn register_analyzer(index: &Index, ranking: Ranking) {
    index.tokenizers().register(ANALYZER, analyzer(ranking));
}
