//! Sends each worker its share, and learns from the answers which shards it has.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rolecall::{BoxFuture, Clock, Members, Time};

use super::refresh::workers;
use crate::search::coordinator::{TaskClient, TaskFailure, Worker};
use crate::search::holdings::Holdings;
use crate::search::shares::Shares;
use crate::search::wire::{Task, TaskAnswer};

/// Interval at which a worker is told its share while the plan does not change.
const EVERY: Duration = Duration::from_secs(2);
/// Shortest interval at which a worker is told its share, however often the plan changes.
const AT_MOST_EVERY: Duration = Duration::from_millis(200);
/// Longest wait for a worker's answer.
const LIMIT: Duration = Duration::from_secs(2);

pub(super) struct Telling<C> {
    pub(super) shares: Arc<Shares>,
    /// Shards of the leader itself.
    pub(super) here: Arc<Holdings>,
    pub(super) client: C,
    /// Id of the leader.
    pub(super) node: Arc<str>,
    pub(super) clock: Arc<dyn Clock>,
}

/// Last time that one worker was told its share.
#[derive(Clone, Copy, Debug)]
struct Told {
    at: Time,
    plan: u64,
    is_answered: bool,
}

impl Told {
    /// Time at which the worker is told again; `None` before it has answered.
    fn due(&self, plan: u64) -> Option<Time> {
        self.is_answered.then(|| self.at + if self.plan == plan { EVERY } else { AT_MOST_EVERY })
    }
}

type Answer = (Arc<str>, Result<TaskAnswer, TaskFailure>);

impl<C: TaskClient> Telling<C> {
    /// Tells all workers their shares whenever the plan changes, and at intervals, until the term is over or the node is gone.
    pub(super) async fn run(self, mut members: Members) {
        let mut told: BTreeMap<Arc<str>, Told> = BTreeMap::new();
        let mut failing: BTreeSet<Arc<str>> = BTreeSet::new();
        let mut answers: FuturesUnordered<BoxFuture<'_, Answer>> = FuturesUnordered::new();
        loop {
            let now = self.clock.now();
            let workers = workers(&members.now(), &self.node);
            self.plan(&workers);
            let plan = self.shares.plan();
            failing.retain(|id| workers.iter().any(|worker| worker.id == *id));
            told.retain(|id, told| !told.is_answered || workers.iter().any(|worker| worker.id == *id));
            for worker in workers {
                if told.get(&worker.id).is_none_or(|told| told.due(plan).is_some_and(|due| due <= now)) {
                    told.insert(Arc::clone(&worker.id), Told { at: now, plan, is_answered: false });
                    answers.push(Box::pin(self.tell(worker, now + LIMIT)));
                }
            }
            let wake = told.values().filter_map(|told| told.due(plan)).fold(now + EVERY, Time::min);
            tokio::select! {
                biased;
                Some((worker, answer)) = answers.next() => {
                    if let Some(told) = told.get_mut(&worker) {
                        told.is_answered = true;
                    }
                    match answer {
                        Ok(TaskAnswer::Hold(holding)) => {
                            failing.remove(&worker);
                            self.shares.heard(&worker, holding, self.clock.now());
                        }
                        Ok(TaskAnswer::Statistics(_) | TaskAnswer::Search { .. } | TaskAnswer::Snippets(_)) => {
                            tracing::debug!(%worker, "an answer to another task");
                        }
                        Err(TaskFailure::TermOver(_)) => return,
                        // Said once, until the worker takes its share again or is gone.
                        Err(TaskFailure::Failed(reason)) if failing.insert(Arc::clone(&worker)) => {
                            tracing::warn!(%worker, reason, "a worker does not take its share");
                        }
                        Err(TaskFailure::Failed(reason)) => tracing::debug!(%worker, reason, "a worker still does not"),
                    }
                }
                changed = members.changed() => if changed.is_none() { return },
                () = self.clock.sleep_until(wake) => {}
            }
        }
    }

    /// Makes the plan for the present workers, and follows it on this node.
    pub(super) fn plan(&self, workers: &[Worker]) {
        let now = self.clock.now();
        self.shares.own(self.here.holding(), now);
        self.shares.see(workers, now);
        self.here.hold(&self.shares.of_leader());
    }

    async fn tell(&self, worker: Worker, deadline: Time) -> Answer {
        let answer = self.client.send(&worker, &Task::Hold, deadline).await;
        (worker.id, answer)
    }
}
