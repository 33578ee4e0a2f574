//! Rounds of a search: the tasks that each sends, and how it reads the answers.

use std::collections::BTreeMap;

use super::gather::{Answered, Gathered, Round};
use super::latency::TaskKind;
use crate::search::index::SnapshotId;
use crate::search::query::Query;
use crate::search::shard::ShardId;
use crate::search::weights::{Statistics, Weights};
use crate::search::wire::{DocumentSnippet, Hit, Matching, SnapshotRef, SnippetRequest, Task, TaskAnswer};

/// Round 1: statistics.
pub(super) struct StatisticsRound {
    pub(super) terms: Vec<String>,
}

/// Statistics of a shard, with the state to which they belong.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) source: SnapshotRef,
    pub(super) statistics: Statistics,
}

impl Round for StatisticsRound {
    type Part = Counted;

    const KIND: TaskKind = TaskKind::Statistics;

    fn task(&self, shards: &[ShardId]) -> Task {
        Task::Statistics { shards: shards.to_vec(), terms: self.terms.clone() }
    }

    fn read(&self, answer: TaskAnswer) -> Option<Answered<Counted>> {
        let TaskAnswer::Statistics(shards) = answer else { return None };
        let whole = shards.iter().all(|shard| shard.statistics.frequencies.len() == self.terms.len());
        let parts = shards
            .into_iter()
            .map(|shard| (shard.source.shard, Counted { source: shard.source, statistics: shard.statistics }));
        whole.then(|| Answered { parts: parts.collect(), gone: Vec::new() })
    }
}

/// Round 2: the best documents.
pub(super) struct SearchRound<'a> {
    pub(super) snapshots: BTreeMap<ShardId, SnapshotId>,
    pub(super) query: &'a Query,
    pub(super) weights: &'a Weights,
    pub(super) limit: usize,
}

/// Matches found in a shard. The hits leave out those that are not among the best of the shards asked for in the same task;
/// such hits cannot be among the best of all either.
#[derive(Debug, Default)]
pub(super) struct Found {
    matching: u64,
    hits: Vec<Hit>,
    /// True if the shard has a newer state, too.
    pub(super) is_outdated: bool,
}

impl Round for SearchRound<'_> {
    type Part = Found;

    const KIND: TaskKind = TaskKind::Search;

    fn task(&self, shards: &[ShardId]) -> Task {
        let snapshots = shards
            .iter()
            .filter_map(|&shard| self.snapshots.get(&shard).map(|&snapshot| SnapshotRef { shard, snapshot }));
        let (query, weights) = (self.query.clone(), self.weights.clone());
        Task::Search { shards: snapshots.collect(), query, weights, limit: self.limit }
    }

    fn read(&self, answer: TaskAnswer) -> Option<Answered<Found>> {
        let TaskAnswer::Search { shards, hits, gone, newer } = answer else { return None };
        let found = |matching: Matching| {
            let is_outdated = newer.contains(&matching.shard);
            (matching.shard, Found { matching: matching.documents, hits: Vec::new(), is_outdated })
        };
        let mut parts: BTreeMap<_, _> = shards.into_iter().map(found).collect();
        for hit in hits {
            parts.get_mut(&hit.shard)?.hits.push(hit);
        }
        Some(Answered { parts: parts.into_iter().collect(), gone })
    }
}

/// Best hits of all shards.
pub(super) struct Best {
    pub(super) hits: Vec<Hit>,
    pub(super) total: u64,
    pub(super) missing: Vec<ShardId>,
}

impl Best {
    pub(super) fn of(found: Gathered<Found>, limit: usize) -> Self {
        let total = found.parts.values().fold(0, |total: u64, found| total.saturating_add(found.matching));
        let mut hits: Vec<_> = found.parts.into_values().flat_map(|found| found.hits).collect();
        hits.sort_unstable_by(|one, other| {
            other.score.0.total_cmp(&one.score.0).then_with(|| one.path.cmp(&other.path))
        });
        hits.truncate(limit);
        let missing = found.missing.into_iter().chain(found.gone).collect();
        Self { hits, total, missing }
    }
}

/// Round 3: titles and snippets.
pub(super) struct SnippetRound<'a> {
    pub(super) documents: BTreeMap<ShardId, Vec<SnippetRequest>>,
    pub(super) query: &'a Query,
    pub(super) weights: &'a Weights,
}

impl Round for SnippetRound<'_> {
    type Part = Vec<DocumentSnippet>;

    const KIND: TaskKind = TaskKind::Snippets;

    fn task(&self, shards: &[ShardId]) -> Task {
        let documents = shards.iter().filter_map(|shard| self.documents.get(shard)).flatten().cloned();
        Task::Snippets { documents: documents.collect(), query: self.query.clone(), weights: self.weights.clone() }
    }

    fn read(&self, answer: TaskAnswer) -> Option<Answered<Vec<DocumentSnippet>>> {
        let TaskAnswer::Snippets(documents) = answer else { return None };
        let mut parts: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for shown in documents {
            parts.entry(shown.shard).or_default().push(shown);
        }
        Some(Answered { parts: parts.into_iter().collect(), gone: Vec::new() })
    }
}
