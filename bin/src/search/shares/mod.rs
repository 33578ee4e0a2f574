//! Shares: the leader alone decides which node holds which shards, from its present workers, and tells them.
//!
//! ```text
//! workers as they are ─┐                        ┌─► share of each worker ─► POST /task, with every task
//!                      ├─► Allocation (a plan) ─┤
//! answers to `hold` ───┘                        └─► share of the leader itself
//!         └─► who has a shard now ─► whom a search asks, how many copies there are
//! ```
//! A plan says which workers must hold a shard, by rendezvous hashing. As long as one of them lacks it, other workers that have
//! the shard keep it, so a shard that moves is always on some node. Workers never work out a share for themselves, because they
//! would do it from a list of workers that nobody keeps fresh.

mod allocation;
mod report;

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall::Time;

use super::coordinator::Worker;
use super::shard::ShardId;
use super::wire::{Holding, Share};
use allocation::Allocation;
pub use allocation::leader_holds_everything;
pub use report::SharesReport;

/// Time without an answer after which a worker gets no shards, even though it is registered. It gets them back with its next
/// answer.
pub const SILENT_AFTER: Duration = Duration::from_secs(10);

/// Shares of one term, as its leader assigns them.
#[derive(Debug)]
pub struct Shares {
    shards: u16,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    workers: BTreeMap<Arc<str>, Reported>,
    /// Shards of the leader itself.
    own: Holding,
    allocation: Allocation,
    /// True if an answer has arrived since the allocation was made.
    is_outdated: bool,
}

/// Last report of a worker.
#[derive(Debug)]
struct Reported {
    /// Time of the report; before the first report, the time at which the worker was first seen.
    heard_at: Time,
    holding: Option<Holding>,
}

impl Shares {
    /// Makes the shares of a cluster with this number of shards, before the leader knows any worker.
    #[must_use]
    pub fn new(shards: u16) -> Self {
        Self { shards, state: Mutex::default() }
    }

    /// Records the present workers, and makes a new plan if they require one.
    pub fn see(&self, workers: &[Worker], now: Time) {
        let mut state = self.state();
        let ids: BTreeSet<&Arc<str>> = workers.iter().map(|worker| &worker.id).collect();
        state.workers.retain(|id, _| ids.contains(id));
        for id in ids {
            state.workers.entry(Arc::clone(id)).or_insert(Reported { heard_at: now, holding: None });
        }
        state.plan(self.shards, now);
    }

    /// Records the shards that a worker reports.
    pub fn heard(&self, worker: &str, holding: Holding, now: Time) {
        let mut state = self.state();
        if let Some(reported) = state.workers.get_mut(worker) {
            let is_news = reported.holding.as_ref() != Some(&holding);
            *reported = Reported { heard_at: now, holding: Some(holding) };
            state.is_outdated |= is_news;
            state.plan(self.shards, now);
        }
    }

    /// Records the shards of the leader itself.
    pub fn own(&self, holding: Holding, now: Time) {
        let mut state = self.state();
        state.is_outdated |= state.own != holding;
        state.own = holding;
        state.plan(self.shards, now);
    }

    /// Share of a worker; `None` if it has none, because it is unknown or silent.
    #[must_use]
    pub fn of(&self, worker: &str) -> Option<Arc<Share>> {
        self.state().allocation.shares.get(worker).cloned()
    }

    /// Share of the leader itself.
    #[must_use]
    pub fn of_leader(&self) -> Arc<Share> {
        Arc::clone(&self.state().allocation.own)
    }

    /// Number of the plan, which rises whenever a share changes.
    #[must_use]
    pub fn plan(&self) -> u64 {
        self.state().allocation.plan
    }

    /// Workers to ask for a shard: first those that have it, then those that must hold it.
    #[must_use]
    pub fn to_ask(&self, shard: ShardId) -> Vec<Arc<str>> {
        let state = self.state();
        let chosen = state.allocation.chosen.get(usize::from(shard.0)).map_or(&[][..], Vec::as_slice);
        let (mut asked, others): (Vec<_>, Vec<_>) = chosen.iter().cloned().partition(|id| state.has(id, shard));
        let moving = state.workers.keys().filter(|id| state.has(id, shard) && !chosen.contains(id));
        asked.extend(moving.cloned());
        asked.extend(others);
        asked
    }

    /// Numbers about the state of all shards.
    #[must_use]
    pub fn report(&self, now: Time) -> SharesReport {
        let state = self.state();
        let answering = state.workers.values().filter(|reported| reported.answers(now));
        let known = answering.filter_map(|reported| reported.holding.as_ref());
        SharesReport::of(self.shards, state.allocation.holders(), known.chain([&state.own]))
    }

    /// Locks the state. No code that holds the lock panics halfway through a change, so a poisoned lock is safe to use.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Makes a new allocation if the answering workers, or the shards held, differ from those of the present one.
    fn plan(&mut self, shards: u16, now: Time) {
        let answering = self.workers.iter().filter(|(_, reported)| reported.answers(now));
        if self.allocation.plan > 0 && !self.is_outdated && answering.map(|(id, _)| id).eq(&self.allocation.workers) {
            return;
        }
        self.is_outdated = false;
        let answering = self.workers.iter().filter(|(_, reported)| reported.answers(now));
        let workers = answering.map(|(id, _)| Arc::clone(id)).collect();
        let held = self.workers.iter().filter_map(|(id, reported)| Some((id, reported.holding.as_ref()?)));
        self.allocation.renew(shards, workers, &held.collect(), &self.own);
    }

    fn has(&self, worker: &str, shard: ShardId) -> bool {
        let holding = self.workers.get(worker).and_then(|reported| reported.holding.as_ref());
        holding.is_some_and(|holding| holding.has(shard))
    }
}

impl Reported {
    fn answers(&self, now: Time) -> bool {
        now.since(self.heard_at) < SILENT_AFTER
    }
}

#[cfg(test)]
mod tests;
