//! Index of a shard: built as a whole, never changed, and replaced by the next one.
//!
//! ```text
//! files of a shard ──build──► snapshot ──evaluate──► statistics, best documents, snippets
//!                               │ stored
//!                       DATA/v2-64-bm25/0007/<snapshot>/   tantivy's files and manifest
//!
//! snapshots of a share ──merged when quiet──► DATA/v2-64-bm25/merged-first/<snapshots>/
//! ```
//! tantivy keeps the terms, postings, positions and stored texts in one segment. Nothing here starts a thread.

mod bits;
mod build;
mod evaluate;
mod manifest;
mod merged;
mod occurrences;
mod snapshot;
mod snippet;
mod storage;
mod top;

pub use build::BuildError;
pub use snapshot::{Document, Snapshot, SnapshotId};
pub use storage::IndexStorage;

pub(crate) use build::{BuildInput, build};
pub(crate) use evaluate::Scorer;
pub(crate) use manifest::{FileOutcome, unchanged};
pub(crate) use merged::Merged;
pub(crate) use snippet::Highlighter;
pub(crate) use storage::Held;
pub(crate) use top::Top;

#[cfg(test)]
mod tests;
