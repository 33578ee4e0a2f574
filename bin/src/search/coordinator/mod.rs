//! Runs a search over the whole cluster.
//!
//! A leader that holds every shard makes a search alone, unless it is busy. Then, and in larger clusters, it asks the workers.
//!
//! One deadline covers everything. Shards for which nobody answers count as missing; they are never left out in silence.

mod alone;
mod answer;
mod answers;
mod counts;
mod doubts;
mod gather;
mod latency;
mod rounds;
mod together;

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rolecall::{Clock, TermOver, Time};

use super::analysis::analyzer;
use super::holdings::Holdings;
use super::query::{self, Note, Query};
use super::settings::Settings;
use super::shard::ShardId;
use super::shares::Shares;
use super::wire::{MAX_LIMIT, MAX_OFFSET, Task, TaskAnswer, TaskError};
use alone::Alone;
pub use answer::{SearchAnswer, SearchError, SearchRequest, ShownHit};
use counts::Counts;
use doubts::Doubts;
use gather::Target;
pub use latency::Hedging;
use latency::Latencies;

/// Node that does tasks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Worker {
    /// Id of the worker, by which shards are placed.
    pub id: Arc<str>,
    /// Address of the worker, `host:port`.
    pub address: Arc<str>,
}

/// Client that sends tasks to workers.
pub trait TaskClient: Send + Sync + 'static {
    /// Sends `task` to `worker` and waits for the answer, but not past `deadline`.
    fn send(
        &self,
        worker: &Worker,
        task: &Task,
        deadline: Time,
    ) -> impl Future<Output = Result<TaskAnswer, TaskFailure>> + Send;
}

/// Reason why a task was not done.
#[derive(Debug, thiserror::Error)]
pub enum TaskFailure {
    /// The term of the sender is over, so it may not send tasks.
    #[error(transparent)]
    TermOver(#[from] TermOver),
    /// The worker refused, or did not answer in time, or answered something else.
    #[error("{0}")]
    Failed(String),
}

/// Time limits of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Time from the request to the answer.
    pub deadline: Duration,
    /// Bounds of the time after which a second worker is asked too. Between them it follows the recent answers.
    pub hedging: Hedging,
    /// Time to wait for shards that are being indexed.
    pub patience: Duration,
    /// Pause before such shards are asked for again.
    pub retry_after: Duration,
    /// True if a leader that holds every shard may search without the workers.
    pub alone: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(8),
            hedging: Hedging::default(),
            patience: Duration::from_secs(3),
            retry_after: Duration::from_millis(50),
            alone: true,
        }
    }
}

/// Coordinator that runs searches.
pub struct Coordinator<C> {
    client: C,
    /// Shards of this node itself, the last choice for every shard.
    here: Arc<Holdings>,
    /// Shares of the workers: who must hold each shard, and who has it.
    shares: Arc<Shares>,
    clock: Arc<dyn Clock>,
    pace: Pace,
    /// True if this node's own tasks may run on another thread.
    threads: bool,
    doubts: Doubts,
    /// Recent answer times of the workers.
    latencies: Latencies,
    /// Number of documents in each shard at its last answer.
    known: Mutex<BTreeMap<ShardId, u64>>,
    /// Statistics of words that were asked for.
    counts: Mutex<Counts>,
    alone: Alone,
}

impl<C> fmt::Debug for Coordinator<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Coordinator").field("pace", &self.pace).finish_non_exhaustive()
    }
}

impl<C: TaskClient> Coordinator<C> {
    /// Makes a coordinator that asks workers through `client`, by their shares, and knows the shards of this node. With
    /// `threads`, work runs on threads of the runtime; a simulation runs it on the calling thread.
    #[must_use]
    pub fn new(
        client: C,
        here: Arc<Holdings>,
        shares: Arc<Shares>,
        clock: Arc<dyn Clock>,
        pace: Pace,
        threads: bool,
    ) -> Self {
        let (doubts, latencies, known) = (Doubts::default(), Latencies::default(), Mutex::default());
        let counts = Mutex::new(Counts::new(here.settings().shards.count()));
        let alone = Alone::default();
        Self { client, here, shares, clock, pace, threads, doubts, latencies, known, counts, alone }
    }

    /// Searches. `workers` returns the present workers; it is called again as the search goes on.
    ///
    /// The caller, which knows the term, must set the answer's `epoch`.
    ///
    /// # Errors
    /// If the request is bad, or the client says that the term is over. Failing workers are not an error.
    pub async fn search(
        &self,
        request: &SearchRequest,
        workers: &(dyn Fn() -> Vec<Worker> + Sync),
    ) -> Result<SearchAnswer, SearchError> {
        let begun = self.clock.now();
        let (query, notes) = self.parse(request)?;
        let (found, missing) = match self.search_alone(request, &query).await {
            Some(found) => (found, None),
            None => {
                let found = self.search_together(request, &query, workers, begun).await?;
                self.note_together(self.clock.now().since(begun));
                found
            }
        };
        Ok(SearchAnswer {
            query: request.query.clone(),
            notes: notes.iter().map(Note::to_string).collect(),
            hits: found.hits,
            total: found.total,
            partial: missing.is_some(),
            missing: missing.unwrap_or_default(),
            workers: workers().len(),
            epoch: 0,
            took_ms: u64::try_from(self.clock.now().since(begun).as_millis()).unwrap_or(u64::MAX),
        })
    }

    fn parse(&self, request: &SearchRequest) -> Result<(Query, Vec<Note>), SearchError> {
        if request.limit > MAX_LIMIT {
            return Err(SearchError::BadLimit(request.limit));
        }
        if request.offset > MAX_OFFSET {
            return Err(SearchError::BadOffset(request.offset));
        }
        Ok(query::parse_with_notes(&request.query, &mut analyzer(self.settings().ranking))?)
    }

    fn settings(&self) -> Settings {
        self.here.settings()
    }

    /// Passes a task to its target.
    async fn give(&self, target: &Target, task: &Task, deadline: Time) -> Result<TaskAnswer, TaskFailure> {
        match target {
            Target::Worker(worker) => self.client.send(worker, task, deadline).await,
            Target::Here if self.threads => {
                Arc::clone(&self.here).answer_on_threads(task.clone()).await.map_err(failed)
            }
            Target::Here => self.here.answer(task).map_err(failed),
        }
    }
}

fn failed(error: TaskError) -> TaskFailure {
    TaskFailure::Failed(error.to_string())
}

#[cfg(test)]
mod tests;
