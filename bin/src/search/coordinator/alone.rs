//! Searches that the leader makes by itself.
//!
//! In a small cluster the leader holds every shard. A search then takes one node far less time than it takes to ask others: three
//! rounds, each of which goes to a worker and back. So the leader searches by itself until so many searches wait that the workers
//! would be much sooner.

use core::time::Duration;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Semaphore;

use super::answers::Answers;
use super::{Coordinator, SearchRequest, TaskClient};
use crate::search::effort::{Effort, times};
use crate::search::query::Query;
use crate::search::usual::Usual;
use crate::search::weights::{Statistics, Weights};
use crate::search::whole::{Whole, WholeAnswer};
use crate::search::wire::TaskError;

/// Number of times as long as by all nodes that a search here may take. Asking others costs all nodes together several times as much, so
/// it must be worth it.
const PATIENCE: u32 = 4;
/// Time that a search by all nodes is expected to take before one has been measured.
const UNKNOWN: Duration = Duration::from_millis(2);
/// Effort of a snippet, as a number of documents that are scored.
const SNIPPET: u64 = 2_000;

/// Measurements and answers of the searches that the leader made by itself.
#[derive(Debug)]
pub(super) struct Alone {
    /// Number of searches that run at the same time; the others wait.
    places: usize,
    free: Semaphore,
    /// Number of searches that run or wait.
    present: AtomicUsize,
    /// Usual time of a search here, without waiting.
    here: Usual,
    effort: Effort,
    /// Usual time of a search by all nodes.
    together: Usual,
    answers: Mutex<Answers>,
}

impl Default for Alone {
    fn default() -> Self {
        let places = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            places,
            free: Semaphore::new(places),
            present: AtomicUsize::new(0),
            here: Usual::default(),
            effort: Effort::default(),
            together: Usual::default(),
            answers: Mutex::default(),
        }
    }
}

impl<C: TaskClient> Coordinator<C> {
    /// Searches here, if this node holds every shard and is not too busy. `None` if the workers must be asked.
    pub(super) async fn search_alone(&self, request: &SearchRequest, query: &Query) -> Option<WholeAnswer> {
        if !self.pace.alone {
            return None;
        }
        let whole = self.here.whole()?;
        let state = whole.state();
        if let Some(known) = self.alone.answers(|answers| answers.get(state, request)) {
            return Some(known);
        }
        if !self.alone.is_sooner() {
            return None;
        }
        match self.compute(whole, query, request).await {
            Ok(answer) => {
                self.alone.answers(|answers| answers.keep(state, request, &answer));
                Some(answer)
            }
            Err(error) => {
                tracing::warn!(%error, "this node cannot search its own shards; asking the workers");
                None
            }
        }
    }

    /// Notes the time of a search by all nodes.
    pub(super) fn note_together(&self, took: Duration) {
        self.alone.together.note(took);
    }

    async fn compute(&self, whole: Whole, query: &Query, request: &SearchRequest) -> Result<WholeAnswer, TaskError> {
        let (ranking, offset, limit) = (self.settings().ranking, request.offset, request.limit);
        if !self.threads {
            let weights = Weights::new(ranking, query, &whole.statistics(&query.terms())?);
            return whole.search(query, &weights, offset, limit);
        }
        let _present = Present::enter(&self.alone.present);
        // The semaphore is never closed.
        let _place = self.alone.free.acquire().await.ok();
        let begun = self.clock.now();
        let counted = if whole.is_merged() { Some(whole.statistics(&query.terms())?) } else { None };
        let units = counted.as_ref().map(|statistics| effort(query, statistics, limit));
        let query = query.clone();
        let search = move || {
            let statistics = counted.map_or_else(|| whole.statistics(&query.terms()), Ok)?;
            whole.search(&query, &Weights::new(ranking, &query, &statistics), offset, limit)
        };
        let answer = self.alone.effort.run(units, search).await?;
        self.alone.here.note(self.clock.now().since(begun));
        answer
    }
}

impl Alone {
    /// True if a search that begins now is expected to end soon enough here.
    fn is_sooner(&self) -> bool {
        let turns = 1 + u32::try_from(self.present.load(Ordering::Relaxed) / self.places).unwrap_or(u32::MAX);
        let together = self.together.time().unwrap_or(UNKNOWN).saturating_mul(PATIENCE);
        let is_sooner = self.here.time().unwrap_or_default().saturating_mul(turns) <= together;
        // What is not measured now may have become faster since it was.
        match (is_sooner, turns) {
            (true, 1) => {}
            (true, _) => self.together.fade(),
            (false, _) => self.here.fade(),
        }
        is_sooner
    }

    fn answers<T>(&self, act: impl FnOnce(&mut Answers) -> T) -> T {
        act(&mut self.answers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Number of documents that a search looks at, with something for each snippet that it cuts.
fn effort(query: &Query, statistics: &Statistics, hits: usize) -> u64 {
    let documents = statistics.frequencies.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
    documents.saturating_mul(times(query)).saturating_add(hits as u64 * SNIPPET)
}

/// Search that runs or waits, as long as this lives.
struct Present<'a>(&'a AtomicUsize);

impl<'a> Present<'a> {
    fn enter(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
