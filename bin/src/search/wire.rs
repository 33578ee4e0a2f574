//! Tasks of a coordinator and answers of a worker: the bodies of `POST /task`, as JSON.
//!
//! Every task carries the worker's share. A task that belongs to a search names shards; the worker leaves those that it does not
//! hold out of its answer, so that the coordinator asks another.

use std::collections::BTreeSet;
use std::sync::Arc;

use rolecall::Fence;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::index::SnapshotId;
use super::query::{MAX_PARTS, MAX_WORDS, Query};
use super::settings::Settings;
use super::shard::ShardId;
use super::weights::{Statistics, Weights};

/// Largest number of hits in one answer to a person.
pub const MAX_LIMIT: usize = 1000;
/// Largest number of hits that may be skipped.
pub const MAX_OFFSET: usize = 10_000;

/// Version of tasks and answers, and of the analysis of texts. A worker refuses tasks of any other.
pub const VERSION: u32 = 2;

/// Body of `POST /task`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRequest {
    /// [`VERSION`] of the leader; 0 for leaders from before there were versions.
    #[serde(default)]
    pub version: u32,
    /// Fence of the leader's term.
    pub fence: Fence,
    /// Settings of the leader. With other settings, the shards would differ.
    pub settings: Settings,
    /// Shards that the worker must hold; `None` if the leader has not decided yet.
    #[serde(default)]
    pub share: Option<Arc<Share>>,
    /// The task.
    pub task: Task,
}

/// Share of one worker: all shards that it must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Number of the plan, which rises with each plan of a term.
    pub plan: u64,
    /// Shards to hold, in the order in which to build them.
    pub hold: Vec<ShardId>,
    /// Number of these shards, the first ones, of which the worker is the first to be asked.
    #[serde(default)]
    pub first: usize,
    /// Shards to keep if the worker has them, because others have not built them yet.
    pub keep: Vec<ShardId>,
}

/// A task for a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Hold the share and report the progress, nothing else.
    Hold,
    /// Round 1: the statistics of these shards.
    Statistics {
        /// The shards.
        shards: Vec<ShardId>,
        /// Terms of the query, sorted.
        terms: Vec<String>,
    },
    /// Round 2: the best documents of these snapshots together.
    Search {
        /// The snapshots.
        shards: Vec<SnapshotRef>,
        /// The query.
        query: Query,
        /// Weights of its leaves.
        weights: Weights,
        /// Number of documents wanted.
        limit: usize,
    },
    /// Round 3: titles and snippets of these documents.
    Snippets {
        /// The documents.
        documents: Vec<SnippetRequest>,
        /// The query.
        query: Query,
        /// Weights of its leaves.
        weights: Weights,
    },
}

/// Reference to a shard in a given state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotRef {
    /// The shard.
    pub shard: ShardId,
    /// Its state.
    pub snapshot: SnapshotId,
}

/// Document of which a snippet is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnippetRequest {
    /// Shard of the document, in the state in which the document was found.
    #[serde(flatten)]
    pub source: SnapshotRef,
    /// Its path.
    pub path: String,
}

/// Answer to the [`Task`] of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskAnswer {
    /// Shards of the worker.
    Hold(Holding),
    /// Statistics of each requested shard that the worker holds.
    Statistics(Vec<ShardStatistics>),
    /// Results for the requested shards that the worker holds in the given state.
    Search {
        /// Number of matching documents in each shard that was searched.
        shards: Vec<Matching>,
        /// Best documents of all these shards together, best first.
        hits: Vec<Hit>,
        /// Shards that the worker holds in another state than the given one. Both rounds must then be repeated.
        gone: Vec<ShardId>,
        /// Shards that were searched in the given state, but of which the worker has a newer one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        newer: Vec<ShardId>,
    },
    /// Title and snippet of each document that still exists in the given state.
    Snippets(Vec<DocumentSnippet>),
}

/// Shards of a worker, by progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holding {
    /// Shards that the worker can search.
    pub holds: BTreeSet<ShardId>,
    /// Shards that the worker is building.
    pub building: BTreeSet<ShardId>,
    /// Shards that the worker must hold but is not building yet.
    pub lacks: BTreeSet<ShardId>,
}

/// Statistics of a shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardStatistics {
    /// The shard, in a given state.
    #[serde(flatten)]
    pub source: SnapshotRef,
    /// Its statistics.
    #[serde(flatten)]
    pub statistics: Statistics,
}

/// Number of matching documents in a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matching {
    /// The shard.
    pub shard: ShardId,
    /// Number of documents.
    pub documents: u64,
}

/// Matching document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// Its shard.
    pub shard: ShardId,
    /// Its path.
    pub path: String,
    /// Its score.
    pub score: Exact,
}

/// Parts of a document that are shown to a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentSnippet {
    /// Its shard.
    pub shard: ShardId,
    /// Its path.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Matching part of the document, as HTML.
    pub snippet: String,
}

/// Reason why a worker does not do a task.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The leader has another version.
    #[error(
        "the task has version {0}, but this node accepts version {VERSION}: run the same version of rolecall on all nodes"
    )]
    OtherVersion(u32),
    /// The leader has other settings.
    #[error("the task is for {theirs}, but this node has {ours}: start all nodes with the same settings")]
    OtherSettings {
        /// Settings of this node.
        ours: Settings,
        /// Settings of the task.
        theirs: Settings,
    },
    /// No leader of this version sends such a task.
    #[error("the task is malformed: {0}")]
    Malformed(&'static str),
    /// The index could not be read.
    #[error("the index could not be read: {0}")]
    Io(#[from] std::io::Error),
    /// The index could not be read.
    #[error("the index could not be read: {0}")]
    Index(#[from] tantivy::TantivyError),
    /// The task panicked, or the node is shutting down.
    #[error("the task was not done: {0}")]
    Thread(#[from] tokio::task::JoinError),
}

impl TaskRequest {
    /// Checks that a leader could have sent this task to a node with these settings.
    ///
    /// # Errors
    /// If the task has another version, is for other settings or is malformed.
    pub fn check(&self, ours: Settings) -> Result<(), TaskError> {
        if self.version != VERSION {
            return Err(TaskError::OtherVersion(self.version));
        }
        if self.settings != ours {
            return Err(TaskError::OtherSettings { ours, theirs: self.settings });
        }
        if self.share.as_ref().is_some_and(|share| !share.is_sound(ours)) {
            return Err(TaskError::Malformed("its share has shards that there are not, or has one twice"));
        }
        self.task.check(ours)
    }
}

impl Share {
    fn is_sound(&self, settings: Settings) -> bool {
        let shards: BTreeSet<_> = self.hold.iter().chain(&self.keep).collect();
        let are_known = shards.iter().all(|shard| shard.0 < settings.shards.count());
        are_known && shards.len() == self.hold.len() + self.keep.len()
    }
}

impl Holding {
    /// True if the worker can search `shard`.
    #[must_use]
    pub fn has(&self, shard: ShardId) -> bool {
        self.holds.contains(&shard)
    }
}

impl Task {
    /// Checks that a coordinator could have sent this task.
    ///
    /// # Errors
    /// If no coordinator sends such a task, with the reason.
    pub fn check(&self, settings: Settings) -> Result<(), TaskError> {
        let most = usize::from(settings.shards.count());
        let (shards, sound) = match self {
            Self::Hold => (0, true),
            Self::Statistics { shards, terms } => (shards.len(), terms.len() <= MAX_PARTS + MAX_WORDS),
            Self::Search { shards, query, weights, limit } => {
                (shards.len(), *limit <= MAX_LIMIT + MAX_OFFSET && fits(query, weights, settings))
            }
            Self::Snippets { documents, query, weights } => {
                (0, documents.len() <= MAX_LIMIT && fits(query, weights, settings))
            }
        };
        if shards > most {
            return Err(TaskError::Malformed("it names more shards than there are"));
        }
        if !sound {
            return Err(TaskError::Malformed("its query, its weights or its size is not what a coordinator sends"));
        }
        Ok(())
    }
}

fn fits(query: &Query, weights: &Weights, settings: Settings) -> bool {
    query.is_sound() && weights.leaves.len() == query.leaves.len() && weights.ranking == settings.ranking
}
