//! What a person asks for, and gets.

use rolecall::TermOver;
use serde::{Deserialize, Serialize};

use crate::search::query::BadQuery;
use crate::search::wire::{MAX_LIMIT, MAX_OFFSET};

/// What a person asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchRequest {
    /// The query as it was typed.
    pub query: String,
    /// How many hits, at most [`MAX_LIMIT`].
    pub limit: usize,
    /// How many of the best to pass over, at most [`MAX_OFFSET`].
    pub offset: usize,
}

/// The answer to a person: the body of `/search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchAnswer {
    /// The query as it was typed.
    pub query: String,
    /// The hits asked for, best first.
    pub hits: Vec<ShownHit>,
    /// How many documents match, in the shards that answered.
    pub total: u64,
    /// Whether shards are missing.
    pub partial: bool,
    /// How many documents the missing shards have, as far as is known.
    pub missing: u64,
    /// How many workers there are.
    pub workers: usize,
    /// The epoch of the term in which it was answered.
    pub epoch: u64,
    /// How long it took.
    pub took_ms: u64,
}

/// A hit as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownHit {
    /// The document's path, relative to the documents folder.
    pub document: String,
    /// Its title.
    pub title: String,
    /// Its score.
    pub score: f32,
    /// The part of it that matches: HTML, escaped, with matches in `<mark>`.
    pub snippet: String,
}

/// A search without an answer.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The query is empty, malformed or too large.
    #[error(transparent)]
    BadQuery(#[from] BadQuery),
    /// The limit is too high.
    #[error("limit={0} is too high: at most {MAX_LIMIT} is accepted")]
    BadLimit(usize),
    /// The offset is too high.
    #[error("offset={0} is too high: at most {MAX_OFFSET} is accepted")]
    BadOffset(usize),
    /// The leader's term ended before the answer was there.
    #[error(transparent)]
    TermOver(#[from] TermOver),
}
