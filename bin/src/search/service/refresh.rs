//! Keeps the shards of a node up to date, in the background.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use rolecall::{Clock, Member, Snapshot};
use tokio::sync::watch;

use super::Work;
use crate::search::coordinator::Worker;
use crate::search::documents::{Charset, FolderError, Links};
use crate::search::holdings::{Due, Holdings, HoldingsReport};

pub(super) struct Refreshing {
    pub(super) holdings: Arc<Holdings>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) rescan: Duration,
    pub(super) work: Work,
}

/// Number of shards that are built at the same time.
const AT_ONCE: usize = 2;

impl Refreshing {
    /// Loads the stored shards, and then holds the shards that the node is told to hold, until it is dropped.
    pub(super) async fn run_with_stored(self) {
        let (holdings, now) = (Arc::clone(&self.holdings), self.clock.now());
        self.work(move || holdings.load_stored(now)).await;
        self.run().await;
    }

    /// Looks at the documents at intervals, and whenever the wanted shards change, until it is dropped.
    pub(super) async fn run(self) {
        let mut folder_was_fine = true;
        let mut told = HoldingsReport::default();
        let mut told_of = None;
        let mut renewals = self.holdings.renewals();
        loop {
            renewals.mark_unchanged();
            match self.look().await {
                Ok(due) => {
                    folder_was_fine = true;
                    self.build(due, &renewals).await;
                    let changes = Some(self.holdings.changes());
                    if told_of != changes {
                        told_of = changes;
                        self.tell(&mut told);
                    }
                    self.merge().await;
                }
                Err(error) => {
                    if folder_was_fine {
                        tracing::warn!(%error, "cannot scan the documents; the index stays as it is");
                    }
                    folder_was_fine = false;
                }
            }
            tokio::select! {
                // This never fails, because the holdings live as long as `self`.
                _ = renewals.changed() => {}
                () = self.clock.sleep_until(self.clock.now() + self.rescan) => {}
            }
        }
    }

    async fn look(&self) -> Result<Vec<Due>, FolderError> {
        let (holdings, wall, now) = (Arc::clone(&self.holdings), self.clock.wall(), self.clock.now());
        self.work(move || holdings.look(wall, now)).await
    }

    /// Builds the shards that are due, until the wanted shards change.
    async fn build(&self, due: Vec<Due>, renewals: &watch::Receiver<u64>) {
        let unchanged = |_: &Due| core::future::ready(!renewals.has_changed().unwrap_or(false));
        let due = stream::iter(due).take_while(unchanged);
        due.for_each_concurrent(AT_ONCE, |due| async move {
            let (holdings, clock) = (Arc::clone(&self.holdings), Arc::clone(&self.clock));
            let shard = due.shard;
            let _building = self.holdings.building(shard);
            if let Work::Here { build } = self.work {
                clock.sleep_until(clock.now() + build).await;
            }
            let built = self.work(move || holdings.refresh(&due, clock.now())).await;
            if let Err(error) = built {
                tracing::warn!(%shard, %error, "cannot index a shard; trying again");
            }
        })
        .await;
    }

    async fn merge(&self) {
        let (holdings, clock) = (Arc::clone(&self.holdings), Arc::clone(&self.clock));
        if let Err(error) = self.work(move || holdings.merge(&|| clock.now())).await {
            tracing::warn!(%error, "cannot merge the shards; they are searched one by one");
        }
    }

    /// Logs the shards that are held, if they have changed since the last time.
    fn tell(&self, told: &mut HoldingsReport) {
        let report = self.holdings.report();
        if report == *told {
            return;
        }
        let HoldingsReport { wanted, ready, documents, ref skipped, ref encodings, links } = report;
        tracing::info!(documents, shards = ready, of = wanted, skipped = skipped.total(), "indexed documents");
        if skipped.counts != told.skipped.counts {
            for (reason, files) in &skipped.counts {
                let first = skipped.examples.iter().find(|skipped| skipped.reason == *reason);
                let first = first.map(|skipped| &*skipped.path).unwrap_or_default();
                tracing::info!(%reason, files, first, "skipped files");
            }
        }
        if *encodings != told.encodings {
            for (encoding, documents) in encodings.iter().filter(|(encoding, _)| **encoding != Charset::UTF_8.name()) {
                tracing::info!(encoding, documents, "indexed documents that are not UTF-8");
            }
        }
        if links != told.links {
            let Links { out, loops, again } = links;
            tracing::info!(out, loops, again, "followed links; each file is searched under its shortest path");
        }
        if self.holdings.is_empty() && told.wanted == 0 {
            tracing::warn!("the documents folder contains no documents");
        }
        *told = report;
    }

    /// Does work that takes long, on another thread if that is allowed.
    async fn work<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        if !self.work.on_threads() {
            return work();
        }
        match tokio::task::spawn_blocking(work).await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down, so there is nothing left to do.
                Err(_) => core::future::pending().await,
            },
        }
    }
}

/// Workers that a leader may ask: each id once, by its newest registration, without the leader itself.
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
