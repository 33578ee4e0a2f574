//! Right answers: those of a single node over the same documents.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use rolecall::Time;

use super::collection::Collection;
use super::node::{SHARDS, settings};
use super::question::Question;
use crate::search::coordinator::ShownHit;
use crate::search::holdings::Holdings;
use crate::search::index::IndexStorage;
use crate::search::query::{self, BadQuery, Query};
use crate::search::wire::{MAX_LIMIT, MAX_OFFSET, SnapshotRef, SnippetRequest, Task, TaskAnswer};
use crate::search::{Settings, ShardId, Statistics, Weights, analyzer};

/// Set of shards, with a bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shards(pub(super) u16);

impl Shards {
    pub(super) const ALL: Self = Self((1 << SHARDS) - 1);

    /// All sets of shards. A set comes before its subsets.
    pub(super) fn sets() -> impl Iterator<Item = Self> {
        (0..=Self::ALL.0).rev().map(Self)
    }

    pub(super) fn has(self, shard: ShardId) -> bool {
        self.0 & 1 << shard.0 != 0
    }

    pub(super) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    fn ids(self) -> impl Iterator<Item = ShardId> {
        ShardId::all(SHARDS).filter(move |shard| self.has(*shard))
    }
}

/// Right answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Page {
    pub(super) hits: Vec<ShownHit>,
    /// Number of matching documents in each shard that was searched.
    pub(super) matching: BTreeMap<ShardId, u64>,
}

impl Page {
    pub(super) fn total(&self) -> u64 {
        self.matching.values().sum()
    }
}

/// Node that holds everything and needs no other.
pub(super) struct Alone {
    holdings: Holdings,
    /// Each shard in its only state, with the number of its documents.
    shards: BTreeMap<ShardId, (SnapshotRef, u64)>,
    whole: Mutex<BTreeMap<Question, Arc<Page>>>,
}

/// Single instance of this process, the same for every run and outside of all of them.
pub(super) static ALONE: LazyLock<Alone> = LazyLock::new(Alone::new);

impl Alone {
    fn new() -> Self {
        let (wall, now) = (SystemTime::UNIX_EPOCH, Time::ZERO);
        let holdings = Holdings::of(Arc::new(Collection), settings(), IndexStorage::Memory, wall);
        let holdings = holdings.expect("documents in memory can be listed");
        holdings.want(Shards::ALL.ids());
        for due in holdings.look(wall, now).expect("documents in memory can be listed") {
            holdings.refresh(&due, now).expect("documents in memory can be indexed");
        }
        let counted = holdings.answer(&Task::Statistics { shards: Shards::ALL.ids().collect(), terms: Vec::new() });
        let Ok(TaskAnswer::Statistics(counted)) = counted else { panic!("an index in memory can be read") };
        let shards = counted.into_iter().map(|shard| (shard.source.shard, (shard.source, shard.statistics.documents)));
        Self { shards: shards.collect(), holdings, whole: Mutex::default() }
    }

    /// True if `question` must be refused.
    pub(super) fn refuses(&self, question: &Question) -> bool {
        parse(question).is_err() || question.limit > MAX_LIMIT || question.offset > MAX_OFFSET
    }

    /// Number of documents outside the shards `searched`.
    pub(super) fn missing(&self, searched: Shards) -> u64 {
        self.shards.iter().filter(|(shard, _)| !searched.has(**shard)).map(|(_, (_, documents))| documents).sum()
    }

    /// Right answer to `question`.
    pub(super) fn whole(&self, question: &Question) -> Arc<Page> {
        let mut known = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        let page = known.entry(*question).or_insert_with(|| Arc::new(self.page(question, Shards::ALL, Shards::ALL)));
        Arc::clone(page)
    }

    /// Right answer if only the shards `counted` sent their statistics, and only `searched` of them sent their results.
    pub(super) fn page(&self, question: &Question, counted: Shards, searched: Shards) -> Page {
        let query = parse(question).expect("a question that is not refused is well formed");
        let weights = Weights::new(settings().ranking, &query, &self.statistics(&query, counted));
        let limit = question.offset + question.limit;
        let shards = searched.ids().map(|shard| self.shards[&shard].0).collect();
        let task = Task::Search { shards, query: query.clone(), weights: weights.clone(), limit };
        let Ok(TaskAnswer::Search { shards, hits, .. }) = self.holdings.answer(&task) else {
            panic!("an index in memory can be read")
        };
        let hits: Vec<_> = hits.into_iter().skip(question.offset).collect();
        let wanted =
            hits.iter().map(|hit| SnippetRequest { source: self.shards[&hit.shard].0, path: hit.path.clone() });
        let task = Task::Snippets { documents: wanted.collect(), query, weights };
        let Ok(TaskAnswer::Snippets(shown)) = self.holdings.answer(&task) else {
            panic!("an index in memory can be read")
        };
        let hits = hits.into_iter().zip(shown).map(|(hit, shown)| ShownHit {
            document: hit.path,
            title: shown.title,
            score: hit.score.0,
            snippet: shown.snippet,
        });
        let matching = shards.into_iter().map(|matching| (matching.shard, matching.documents));
        Page { hits: hits.collect(), matching: matching.collect() }
    }

    fn statistics(&self, query: &Query, counted: Shards) -> Statistics {
        let task = Task::Statistics { shards: counted.ids().collect(), terms: query.terms() };
        let Ok(TaskAnswer::Statistics(shards)) = self.holdings.answer(&task) else {
            panic!("an index in memory can be read")
        };
        let mut sum = Statistics::default();
        shards.iter().for_each(|shard| sum.add(&shard.statistics));
        sum
    }
}

fn parse(question: &Question) -> Result<Query, BadQuery> {
    let Settings { ranking, .. } = settings();
    query::parse(question.query, &mut analyzer(ranking))
}
