//! Request and answer of a whole search, as a person makes and gets them.

use rolecall::TermOver;
use serde::{Deserialize, Serialize};

use crate::search::query::BadQuery;
use crate::search::wire::{MAX_LIMIT, MAX_OFFSET};

/// Request of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchRequest {
    /// The query as it was typed.
    pub query: String,
    /// Number of hits to return, at most [`MAX_LIMIT`].
    pub limit: usize,
    /// Number of the best hits to skip, at most [`MAX_OFFSET`].
    pub offset: usize,
}

/// Answer to a person: the body of `/search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchAnswer {
    /// The query as it was typed.
    pub query: String,
    /// Sentences that say how the query was understood, where that may surprise: words that are left out, divided or shortened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Requested hits, best first.
    pub hits: Vec<ShownHit>,
    /// Number of matching documents in the shards that answered.
    pub total: u64,
    /// True if shards are missing.
    pub partial: bool,
    /// Number of documents in the missing shards, as far as known.
    pub missing: u64,
    /// Number of workers.
    pub workers: usize,
    /// Epoch of the term in which the search was answered.
    pub epoch: u64,
    /// Time that the search took, in milliseconds.
    pub took_ms: u64,
}

/// Hit, as it is shown to a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownHit {
    /// Path of the document, relative to the documents folder.
    pub document: String,
    /// Title of the document.
    pub title: String,
    /// Score of the document.
    pub score: f32,
    /// Matching part of the document: escaped HTML, with matches in `<mark>`.
    pub snippet: String,
}

/// Reason why a search has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The query is empty, malformed or too large.
    #[error(transparent)]
    BadQuery(#[from] BadQuery),
    /// The limit is too high.
    #[error("limit={0} is too high; at most {MAX_LIMIT} is accepted")]
    BadLimit(usize),
    /// The offset is too high.
    #[error("offset={0} is too high; at most {MAX_OFFSET} is accepted")]
    BadOffset(usize),
    /// The leader's term ended before the answer was ready.
    #[error(transparent)]
    TermOver(#[from] TermOver),
}
