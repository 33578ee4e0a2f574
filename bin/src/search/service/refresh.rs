//! Keeps what a node holds up to date, in the background.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use rolecall::{Clock, Members};
use rolecall_core::{Member, Snapshot};

use super::{Work, leader_holds_everything};
use crate::search::coordinator::Worker;
use crate::search::documents::FolderError;
use crate::search::holdings::{Due, Holdings, HoldingsReport};
use crate::search::placement::choices;
use crate::search::shard::ShardId;

/// By which rule shards fall to this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assignment {
    Worker,
    Leader,
}

pub(super) struct Refreshing {
    pub(super) holdings: Arc<Holdings>,
    pub(super) assignment: Assignment,
    pub(super) node: Arc<str>,
    pub(super) shards: u16,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) rescan: Duration,
    pub(super) work: Work,
}

/// Shards that are built at the same time.
const AT_ONCE: usize = 2;

impl Refreshing {
    /// Looks at the documents now and then, and whenever the workers change, until it is dropped or the node is gone.
    pub(super) async fn run(self, mut members: Members) {
        let mut folder_was_fine = true;
        let mut told = HoldingsReport::default();
        loop {
            let ids = self.want(&members);
            match self.look().await {
                Ok(mut due) => {
                    folder_was_fine = true;
                    due.sort_by_key(|due| self.preference(due.shard, &ids));
                    self.build(due, &members).await;
                    self.tell(&mut told);
                }
                Err(error) => {
                    if folder_was_fine {
                        tracing::warn!(%error, "the documents cannot be looked at; the index stays as it is");
                    }
                    folder_was_fine = false;
                }
            }
            tokio::select! {
                changed = members.changed() => if changed.is_none() { return },
                () = self.clock.sleep_until(self.clock.now() + self.rescan) => {}
            }
        }
    }

    /// Tells the holdings what falls to this node among the workers as seen, and gives their ids.
    pub(super) fn want(&self, members: &Members) -> Vec<Arc<str>> {
        let ids = worker_ids(members.seen(), self.assignment, &self.node);
        self.holdings.want(self.wanted(&ids), self.clock.now());
        ids
    }

    fn wanted(&self, ids: &[Arc<str>]) -> BTreeSet<ShardId> {
        let everything = ShardId::all(self.shards);
        match self.assignment {
            Assignment::Worker => everything.filter(|&shard| self.preference(shard, ids).is_some()).collect(),
            Assignment::Leader if leader_holds_everything(ids.len()) => everything.collect(),
            Assignment::Leader => BTreeSet::new(),
        }
    }

    /// Which choice this node is for `shard`; `None` for none. First choices are built first, so that a new cluster is
    /// whole after half of the work.
    fn preference(&self, shard: ShardId, ids: &[Arc<str>]) -> Option<usize> {
        let ids: Vec<_> = ids.iter().map(|id| &**id).collect();
        choices(shard, &ids).iter().position(|&id| id == &*self.node)
    }

    async fn look(&self) -> Result<Vec<Due>, FolderError> {
        let (holdings, wall, now) = (Arc::clone(&self.holdings), self.clock.wall(), self.clock.now());
        self.work(move || holdings.look(wall, now)).await
    }

    /// Builds what is due, as far as it gets before the workers change.
    async fn build(&self, due: Vec<Due>, members: &Members) {
        let seen = Arc::clone(members.seen());
        let unchanged = |_: &Due| core::future::ready(members.now().members == seen.members);
        let due = stream::iter(due).take_while(unchanged);
        due.for_each_concurrent(AT_ONCE, |due| async move {
            let (holdings, clock) = (Arc::clone(&self.holdings), Arc::clone(&self.clock));
            let shard = due.shard;
            if let Work::Here { build } = self.work {
                clock.sleep_until(clock.now() + build).await;
            }
            let built = self.work(move || holdings.refresh(&due, clock.now())).await;
            if let Err(error) = built {
                tracing::warn!(%shard, %error, "a shard could not be indexed; it is tried again");
            }
        })
        .await;
    }

    /// Says what is held now, if that is other than what was said last.
    fn tell(&self, told: &mut HoldingsReport) {
        let report = self.holdings.report();
        if report == *told {
            return;
        }
        let HoldingsReport { wanted, ready, documents, ref skipped } = report;
        tracing::info!(documents, shards = ready, of = wanted, skipped = skipped.total(), "documents are indexed");
        if skipped.counts != told.skipped.counts {
            for (reason, files) in &skipped.counts {
                let first = skipped.examples.iter().find(|skipped| skipped.reason == *reason);
                let first = first.map(|skipped| &*skipped.path).unwrap_or_default();
                tracing::info!(%reason, files, first, "files are not searched");
            }
        }
        if self.holdings.is_empty() && told.wanted == 0 {
            tracing::warn!("the documents folder holds no documents");
        }
        *told = report;
    }

    /// Does work that takes long, where it may on another thread.
    async fn work<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        if !self.work.on_threads() {
            return work();
        }
        match tokio::task::spawn_blocking(work).await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down: nothing more is to be done.
                Err(_) => core::future::pending().await,
            },
        }
    }
}

/// The workers' ids, this node's among them exactly if it is one.
fn worker_ids(snapshot: &Snapshot, assignment: Assignment, node: &Arc<str>) -> Vec<Arc<str>> {
    let mut ids: BTreeSet<_> = snapshot.members.iter().map(|member| Arc::clone(&member.key.id)).collect();
    match assignment {
        // It may not be registered yet.
        Assignment::Worker => ids.insert(Arc::clone(node)),
        // Its registration may not be gone yet.
        Assignment::Leader => ids.remove(node),
    };
    ids.into_iter().collect()
}

/// The workers that a leader may ask: each id once, by its newest registration, and not the leader itself.
pub(super) fn workers(snapshot: &Snapshot, leader: &str) -> Vec<Worker> {
    let mut newest: BTreeMap<&Arc<str>, &Member> = BTreeMap::new();
    for member in snapshot.members.iter().filter(|member| *member.key.id != *leader) {
        let known = newest.entry(&member.key.id).or_insert(member);
        if member.created > known.created {
            *known = member;
        }
    }
    newest.into_values().map(|member| Worker { id: member.key.id.clone(), address: member.address.clone() }).collect()
}
