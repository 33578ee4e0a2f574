//! The whole search on one node that holds every shard: one round, in this process.

use std::sync::Arc;

use super::coordinator::ShownHit;
use super::hash::StableHash;
use super::holdings::{Groups, Holdings};
use super::index::{Highlighter, Scorer, Snapshot, Top};
use super::query::Query;
use super::settings::Settings;
use super::shard::ShardId;
use super::weights::{Statistics, Weights};
use super::wire::TaskError;

/// Every shard of the cluster, in its current state on this node.
#[derive(Debug)]
pub(super) struct Whole {
    settings: Settings,
    snapshots: Vec<Arc<Snapshot>>,
    groups: Groups,
}

/// Hits of a whole search.
#[derive(Clone, Debug)]
pub(super) struct WholeAnswer {
    pub(super) hits: Vec<ShownHit>,
    pub(super) total: u64,
}

impl Holdings {
    /// Every shard; `None` if this node lacks one.
    pub(super) fn whole(&self) -> Option<Whole> {
        let settings = self.settings();
        let snapshots = self.all_current(ShardId::all(settings.shards.count()))?;
        Some(Whole { settings, groups: self.grouped(snapshots.clone()), snapshots })
    }
}

impl Whole {
    /// Hash of the states of all shards: while it is the same, every query has the same answer.
    pub(super) fn state(&self) -> u64 {
        let ids = self.snapshots.iter().map(|snapshot| snapshot.id.0);
        ids.fold(StableHash::new(), StableHash::number).finish()
    }

    /// True if nearly all shards are evaluated in merged indexes, so that words are looked up fast.
    pub(super) fn is_merged(&self) -> bool {
        self.groups.single.iter().all(|snapshot| snapshot.documents.is_empty())
    }

    /// Statistics of all documents for `terms`.
    pub(super) fn statistics(&self, terms: &[String]) -> Result<Statistics, TaskError> {
        let mut sum = Statistics::default();
        for merged in &self.groups.merged {
            if merged.is_within(|shard| self.groups.has(shard)) {
                sum.add(&merged.sum(terms)?);
                continue;
            }
            let parts = merged.statistics(terms)?.into_iter();
            parts.filter(|(snapshot, _)| self.groups.has(snapshot.shard)).for_each(|(_, part)| sum.add(&part));
        }
        for snapshot in &self.groups.single {
            sum.add(&snapshot.statistics(terms)?);
        }
        Ok(sum)
    }

    /// Searches, and returns the hits from `offset` on.
    pub(super) fn search(
        &self,
        query: &Query,
        weights: &Weights,
        offset: usize,
        limit: usize,
    ) -> Result<WholeAnswer, TaskError> {
        let scorer = Scorer::new(query, weights);
        let mut top = Top::new(offset + limit);
        let counts = self.groups.search(&scorer, &mut top)?;
        let total = counts.into_iter().fold(0, |total: u64, (_, documents)| total.saturating_add(documents));
        let highlighter = Highlighter::new(self.settings.ranking, query, weights);
        let mut hits = Vec::with_capacity(limit);
        for hit in top.into_sorted().into_iter().skip(offset) {
            let snapshot = &self.snapshots[usize::from(hit.shard.0)];
            let (title, snippet) = highlighter.show(snapshot, &hit.document.path)?.unwrap_or_default();
            hits.push(ShownHit { document: hit.document.path.clone(), title, score: hit.score, snippet });
        }
        Ok(WholeAnswer { hits, total })
    }
}
