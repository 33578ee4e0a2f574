//! Searches that all nodes make together.
//!
//! ```text
//! round 1  the statistics that are not known yet   first choice ─(fails, refuses, slow)─► second choice ─► this node's own copy
//!          added up, weights computed
//! round 2  the best of every snapshot              likewise; a snapshot that nobody has any more: both rounds again
//!          merged by score and path
//! round 3  titles and snippets of the page that is shown
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

use rolecall::{TermOver, Time};

use super::counts::Counts;
use super::gather::{Asking, Gathered};
use super::rounds::{Best, Counted, Found, SearchRound, SnippetRound, StatisticsRound};
use super::{Coordinator, SearchRequest, ShownHit, TaskClient, Worker};
use crate::search::query::Query;
use crate::search::shard::ShardId;
use crate::search::weights::{Statistics, Weights};
use crate::search::whole::WholeAnswer;
use crate::search::wire::{Hit, SnapshotRef, SnippetRequest};

/// Largest number of attempts at both rounds, which are repeated if a snapshot is gone.
const ATTEMPTS: u32 = 4;

impl<C: TaskClient> Coordinator<C> {
    /// Searches by the rounds, and returns the number of documents in missing shards, if there are any.
    pub(super) async fn search_together(
        &self,
        request: &SearchRequest,
        query: &Query,
        workers: &(dyn Fn() -> Vec<Worker> + Sync),
        begun: Time,
    ) -> Result<(WholeAnswer, Option<u64>), TermOver> {
        let wanted = request.offset + request.limit;
        let (found, statistics, weights) = self.both_rounds(query, wanted, workers, begun).await?;
        let hits = found.hits.iter().skip(request.offset).take(request.limit);
        let hits = self.show(hits, &statistics, query, &weights, workers, begun).await?;
        let missing = self.missing(statistics.missing.iter().chain(&found.missing).copied().collect());
        Ok((WholeAnswer { hits, total: found.total }, missing))
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
            let mut asking = self.asking(workers, begun, 7, 8);
            // If the statistics were known, nodes that do not answer are found out by this round, which may take no longer then.
            asking.until = asking.until.min(self.clock.now() + self.pace.deadline * 5 / 8);
            let found = asking.gather(&round, statistics.parts.keys().copied().collect()).await?;
            self.confirm(&found);
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
        let known = self.counts(|counts| counts.known(&round.terms, self.clock.now()));
        let mut shards: Vec<_> = ShardId::all(self.settings().shards.count()).collect();
        shards.retain(|shard| !known.contains_key(shard));
        let mut gathered = self.asking(workers, begun, 5, 8).gather(&round, shards).await?;
        let now = self.clock.now();
        let mut documents = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        self.counts(|counts| {
            for (&shard, counted) in &gathered.parts {
                documents.insert(shard, counted.statistics.documents);
                counts.note(&round.terms, counted, now);
            }
        });
        drop(documents);
        gathered.parts.extend(known);
        Ok(gathered)
    }

    /// Learns from round 2 which of the known states are still the current ones.
    fn confirm(&self, found: &Gathered<Found>) {
        let (outdated, current): (Vec<_>, Vec<_>) = found.parts.iter().partition(|(_, found)| found.is_outdated);
        let current = current.into_iter().map(|(&shard, _)| shard).collect();
        let outdated = outdated.into_iter().map(|(shard, _)| shard).chain(&found.gone).copied().collect();
        self.counts(|counts| counts.confirm(&current, &outdated, self.clock.now()));
    }

    fn counts<T>(&self, act: impl FnOnce(&mut Counts) -> T) -> T {
        act(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner))
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
}
