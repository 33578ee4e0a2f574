//! Runs a search over the whole cluster.
//!
//! ```text
//! round 1  statistics of every shard   first choice ─(fails, refuses, slow)─► second choice ─► this node's own copy
//!          added up, weights computed
//! round 2  the best of every snapshot  likewise; a snapshot that nobody has any more: both rounds again
//!          merged by score and path
//! round 3  titles and snippets of the page that is shown
//! ```
//! One deadline covers everything. Shards for which nobody answers count as missing; they are never left out in silence.

mod answer;
mod doubts;
mod gather;
mod latency;
mod rounds;

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use rolecall::{Clock, TermOver, Time};

use super::analysis::analyzer;
use super::holdings::Holdings;
use super::query::{self, Note, Query};
use super::settings::Settings;
use super::shard::ShardId;
use super::shares::Shares;
use super::weights::{Statistics, Weights};
use super::wire::{Hit, MAX_LIMIT, MAX_OFFSET, SnapshotRef, SnippetRequest, Task, TaskAnswer, TaskError};
pub use answer::{SearchAnswer, SearchError, SearchRequest, ShownHit};

use doubts::Doubts;
use gather::{Asking, Gathered, Target};
pub use latency::Hedging;
use latency::Latencies;
use rounds::{Best, Counted, SearchRound, SnippetRound, StatisticsRound};

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
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(8),
            hedging: Hedging::default(),
            patience: Duration::from_secs(3),
            retry_after: Duration::from_millis(50),
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
}

impl<C> fmt::Debug for Coordinator<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Coordinator").field("pace", &self.pace).finish_non_exhaustive()
    }
}

/// Largest number of attempts at both rounds, which are repeated if a snapshot is gone.
const ATTEMPTS: u32 = 4;

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
        Self { client, here, shares, clock, pace, threads, doubts, latencies, known }
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
        let wanted = request.offset + request.limit;
        let (found, statistics, weights) = self.both_rounds(&query, wanted, workers, begun).await?;

        let hits = found.hits.iter().skip(request.offset).take(request.limit);
        let hits = self.show(hits, &statistics, &query, &weights, workers, begun).await?;
        let missing = self.missing(statistics.missing.iter().chain(&found.missing).copied().collect());
        Ok(SearchAnswer {
            query: request.query.clone(),
            notes: notes.iter().map(Note::to_string).collect(),
            hits,
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

    /// Runs rounds 1 and 2, and repeats them if a snapshot is gone in between.
    async fn both_rounds(
        &self,
        query: &Query,
        limit: usize,
        workers: &(dyn Fn() -> Vec<Worker> + Sync),
        begun: Time,
    ) -> Result<(Best, Gathered<Counted>, Weights), TermOver> {
        let mut attempt = 1;
        loop {
            let statistics = self.statistics(query, workers, begun).await?;
            let mut sum = Statistics::default();
            statistics.parts.values().for_each(|counted| sum.add(&counted.statistics));
            let weights = Weights::new(self.settings().ranking, query, &sum);

            let shards = statistics.parts.iter().map(|(&shard, counted)| (shard, counted.source.snapshot));
            let round = SearchRound { snapshots: shards.collect(), query, weights: &weights, limit };
            let asking = self.asking(workers, begun, 7, 8);
            let found = asking.gather(&round, statistics.parts.keys().copied().collect()).await?;
            let in_time = self.clock.now() < begun + self.pace.deadline / 2;
            if found.gone.is_empty() || attempt == ATTEMPTS || !in_time {
                return Ok((Best::of(found, limit), statistics, weights));
            }
            attempt += 1;
        }
    }

    async fn statistics(
        &self,
        query: &Query,
        workers: &(dyn Fn() -> Vec<Worker> + Sync),
        begun: Time,
    ) -> Result<Gathered<Counted>, TermOver> {
        let round = StatisticsRound { terms: query.terms() };
        let shards = ShardId::all(self.settings().shards.count()).collect();
        let gathered = self.asking(workers, begun, 5, 8).gather(&round, shards).await?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (&shard, counted) in &gathered.parts {
            known.insert(shard, counted.statistics.documents);
        }
        Ok(gathered)
    }

    /// Runs round 3. A document without an available snippet is shown without one, because it is still a hit.
    async fn show(
        &self,
        hits: impl Iterator<Item = &Hit>,
        statistics: &Gathered<Counted>,
        query: &Query,
        weights: &Weights,
        workers: &(dyn Fn() -> Vec<Worker> + Sync),
        begun: Time,
    ) -> Result<Vec<ShownHit>, TermOver> {
        let hits: Vec<_> = hits.collect();
        let mut documents: BTreeMap<ShardId, Vec<SnippetRequest>> = BTreeMap::new();
        for hit in &hits {
            if let Some(counted) = statistics.parts.get(&hit.shard) {
                let source = SnapshotRef { shard: hit.shard, snapshot: counted.source.snapshot };
                documents.entry(hit.shard).or_default().push(SnippetRequest { source, path: hit.path.clone() });
            }
        }
        let shards = documents.keys().copied().collect();
        let round = SnippetRound { documents, query, weights };
        let shown = self.asking(workers, begun, 8, 8).gather(&round, shards).await?;
        let mut shown: BTreeMap<_, _> =
            shown.parts.into_values().flatten().map(|shown| (shown.path, (shown.title, shown.snippet))).collect();
        let show = |hit: &Hit| {
            let name = || hit.path.rsplit('/').next().unwrap_or(&hit.path).to_owned();
            let (title, snippet) = shown.remove(&hit.path).unwrap_or_else(|| (name(), String::new()));
            ShownHit { document: hit.path.clone(), title, score: hit.score.0, snippet }
        };
        Ok(hits.into_iter().map(show).collect())
    }

    /// Number of documents in `shards`, or `None` if they are known to have none.
    fn missing(&self, shards: BTreeSet<ShardId>) -> Option<u64> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let expected = |shard| known.get(&shard).copied().unwrap_or_default().max(self.here.expected_documents(shard));
        let missing = shards.into_iter().map(expected).fold(0, u64::saturating_add);
        (missing > 0).then_some(missing)
    }

    /// Parameters for a round that ends when `part` of `parts` of the deadline have passed, so that later rounds have time too.
    fn asking<'a>(
        &'a self,
        workers: &'a (dyn Fn() -> Vec<Worker> + Sync),
        begun: Time,
        part: u32,
        parts: u32,
    ) -> Asking<'a, C> {
        Asking { coordinator: self, workers, begun, until: begun + self.pace.deadline * part / parts }
    }

    fn settings(&self) -> Settings {
        self.here.settings()
    }

    /// Passes a task to its target.
    async fn give(&self, target: &Target, task: &Task, deadline: Time) -> Result<TaskAnswer, TaskFailure> {
        match target {
            Target::Worker(worker) => self.client.send(worker, task, deadline).await,
            Target::Here if self.threads => {
                let (here, task) = (Arc::clone(&self.here), task.clone());
                let done = tokio::task::spawn_blocking(move || here.answer(&task)).await;
                done.map_err(|error| TaskFailure::Failed(error.to_string()))?.map_err(failed)
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
