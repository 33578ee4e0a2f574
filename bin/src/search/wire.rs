//! What a coordinator asks of a worker, and what it answers: the bodies of `POST /task`, as JSON.
//!
//! Every task says what the worker is to hold. One that asks for a share of a search names shards. What a worker does not hold it leaves out of its answer, so that the coordinator asks another.

use std::collections::BTreeSet;
use std::sync::Arc;

use rolecall_core::Fence;
use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::index::SnapshotId;
use super::query::{MAX_TERMS, Query};
use super::settings::Settings;
use super::shard::ShardId;
use super::weights::{Statistics, Weights};

/// The most hits of one answer to a person.
pub const MAX_LIMIT: usize = 1000;
/// The most hits that may be passed over.
pub const MAX_OFFSET: usize = 10_000;

/// Version of tasks and answers. A worker refuses tasks of any other.
pub const VERSION: u32 = 1;

/// The body of `POST /task`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRequest {
    /// The leader's [`VERSION`]; 0 before there were any.
    #[serde(default)]
    pub version: u32,
    /// The term of the leader that asks.
    pub fence: Fence,
    /// Its settings: with others the shards would be others.
    pub settings: Settings,
    /// What the worker is to hold; `None` if the leader has not decided that yet.
    #[serde(default)]
    pub share: Option<Arc<Share>>,
    /// What it asks.
    pub task: Task,
}

/// All that one worker is to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Number of the plan, which rises with each plan of a term.
    pub plan: u64,
    /// Shards to hold, in the order in which they are to be built.
    pub hold: Vec<ShardId>,
    /// Shards to keep if they are there, since others have yet to build them.
    pub keep: Vec<ShardId>,
}

/// A task for a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Nothing but to hold its share, and to say how far it is.
    Hold,
    /// Round 1: the statistics of these shards.
    Statistics {
        /// Which.
        shards: Vec<ShardId>,
        /// The terms of the query, sorted.
        terms: Vec<String>,
    },
    /// Round 2: the best documents of these snapshots together.
    Search {
        /// Which.
        shards: Vec<Named>,
        /// What is looked for.
        query: Query,
        /// What each of its leaves is worth.
        weights: Weights,
        /// How many documents are wanted.
        limit: usize,
    },
    /// Round 3: titles and snippets of these documents.
    Snippets {
        /// Which.
        documents: Vec<Wanted>,
        /// What was looked for.
        query: Query,
        /// What each of its leaves is worth.
        weights: Weights,
    },
}

/// A shard in a certain state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// Which shard.
    pub shard: ShardId,
    /// In which state.
    pub snapshot: SnapshotId,
}

/// A document of which a snippet is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Its shard and the state in which it was found.
    #[serde(flatten)]
    pub named: Named,
    /// Its path.
    pub path: String,
}

/// The answer to a [`Task`] of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskAnswer {
    /// All that the worker holds.
    Hold(Holding),
    /// Of each shard that the worker holds.
    Statistics(Vec<ShardStatistics>),
    /// Of each shard that the worker holds in the state that was named.
    Search {
        /// How many documents match, in each shard that was searched.
        shards: Vec<Matching>,
        /// The best of them together, best first.
        hits: Vec<Hit>,
        /// Shards that the worker holds, but not in the state that was named: both rounds are to be repeated.
        gone: Vec<ShardId>,
    },
    /// Of each document that is still there in the state that was named.
    Snippets(Vec<Shown>),
}

/// What a worker holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holding {
    /// Shards that it can search.
    pub holds: BTreeSet<ShardId>,
    /// Shards that it is building.
    pub building: BTreeSet<ShardId>,
    /// Shards that it is to hold, and is not building yet.
    pub lacks: BTreeSet<ShardId>,
}

/// The statistics of a shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardStatistics {
    /// Which shard, and in which state.
    #[serde(flatten)]
    pub named: Named,
    /// Its statistics.
    #[serde(flatten)]
    pub statistics: Statistics,
}

/// How many documents of a shard match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matching {
    /// Which shard.
    pub shard: ShardId,
    /// How many.
    pub documents: u64,
}

/// A document that matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// Its shard.
    pub shard: ShardId,
    /// Its path.
    pub path: String,
    /// Its score.
    pub score: Exact,
}

/// What is shown of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Its shard.
    pub shard: ShardId,
    /// Its path.
    pub path: String,
    /// Its title.
    pub title: String,
    /// The part of it that matches, as HTML.
    pub snippet: String,
}

/// A task that a worker does not do.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The leader is of another version.
    #[error(
        "the task is of version {0}, this node takes version {VERSION}: start all nodes with the same version of rolecall"
    )]
    OtherVersion(u32),
    /// The leader's settings are others.
    #[error("the task is for {theirs}, this node has {ours}: the settings must be the same in the whole cluster")]
    OtherSettings {
        /// The node's.
        ours: Settings,
        /// The task's.
        theirs: Settings,
    },
    /// No leader of this version sends it.
    #[error("the task is malformed: {0}")]
    Malformed(&'static str),
    /// The index could not be read.
    #[error("the index could not be read: {0}")]
    Io(#[from] std::io::Error),
    /// The index could not be read.
    #[error("the index could not be read: {0}")]
    Index(#[from] tantivy::TantivyError),
}

impl TaskRequest {
    /// Checks that the leader could have sent it to a node with these settings.
    ///
    /// # Errors
    /// If it is of another version, for other settings or malformed.
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
    /// True if it can search `shard`.
    #[must_use]
    pub fn has(&self, shard: ShardId) -> bool {
        self.holds.contains(&shard)
    }
}

impl Task {
    /// Whether it is one that a coordinator could have sent.
    ///
    /// # Errors
    /// If it is not, with the reason.
    pub fn check(&self, settings: Settings) -> Result<(), TaskError> {
        let most = usize::from(settings.shards.count());
        let (shards, sound) = match self {
            Self::Hold => (0, true),
            Self::Statistics { shards, terms } => (shards.len(), terms.len() <= MAX_TERMS),
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
