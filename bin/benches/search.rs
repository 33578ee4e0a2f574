//! Cost of exact ranking: this crate's evaluation against tantivy's default collector, over the same generated documents, in
//! the same run. `cargo bench -p rolecall-cli --bench search`; the last line shows the ratios of the medians.

use core::hint::black_box;
use core::time::Duration;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime};

use criterion::{Criterion, criterion_group, criterion_main};
use rolecall::Time;
use rolecall_cli::search::holdings::Holdings;
use rolecall_cli::search::index::IndexStorage;
use rolecall_cli::search::query::{Leaf, Node, Query};
use rolecall_cli::search::wire::{SnapshotRef, Task, TaskAnswer};
use rolecall_cli::search::{Ranking, Settings, ShardId, Statistics, Weights};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TEXT};
use tantivy::{Index, Searcher, Term, doc};

const DOCUMENTS: u64 = 20_000;
const QUERIES: u64 = 256;
const BEST: usize = 10;

/// Sequence of pseudorandom numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// Number below a bound. Low numbers come much more often than high ones, as common words do.
    fn word(&mut self) -> String {
        let bound = 1 + self.below(4_000);
        let bound = 1 + self.below(bound);
        format!("w{}", self.below(bound))
    }
}

fn texts() -> impl Iterator<Item = String> {
    let mut numbers = Numbers(1);
    (0..DOCUMENTS).map(move |_| {
        let length = 10 + numbers.below(90);
        (0..length).map(|_| numbers.word()).collect::<Vec<_>>().join(" ")
    })
}

/// Queries of one to three words joined by OR. They have no stems, so that both sides look up the same terms.
fn queries() -> Vec<Query> {
    let mut numbers = Numbers(2);
    let query = |number: u64| {
        let words: BTreeSet<_> = (0..=number % 3).map(|_| numbers.word()).collect();
        let leaves: Vec<_> = words.into_iter().map(Leaf::plain).collect();
        Query { root: Node::Any((0..leaves.len()).map(Node::Leaf).collect()), leaves }
    };
    (0..QUERIES).map(query).collect()
}

fn holdings(folder: &Path, shards: u16) -> Holdings {
    let shards = shards.try_into().expect("a number of shards that is accepted");
    let settings = Settings { shards, ranking: Ranking::Bm25 };
    let holdings =
        Holdings::open(folder, settings, IndexStorage::Memory, SystemTime::now()).expect("the folder can be read");
    holdings.want(ShardId::all(settings.shards.count()));
    for due in holdings.look(SystemTime::now(), Time::ZERO).expect("the folder can be read") {
        holdings.refresh(&due, Time::ZERO).expect("the index is built");
    }
    holdings
}

/// Both rounds, as a coordinator runs them.
fn both_rounds(holdings: &Holdings, query: &Query) -> usize {
    let shards = ShardId::all(holdings.settings().shards.count()).collect();
    let task = Task::Statistics { shards, terms: query.terms() };
    let Ok(TaskAnswer::Statistics(answered)) = holdings.answer(&task) else { panic!("it answers statistics") };
    let mut sum = Statistics::default();
    answered.iter().for_each(|shard| sum.add(&shard.statistics));
    let weights = Weights::new(Ranking::Bm25, query, &sum);
    let shards: Vec<SnapshotRef> = answered.iter().map(|shard| shard.source).collect();
    let task = Task::Search { shards, query: query.clone(), weights, limit: BEST };
    let Ok(TaskAnswer::Search { hits, .. }) = holdings.answer(&task) else { panic!("it answers hits") };
    hits.len()
}

fn tantivy_index() -> tantivy::Result<(Searcher, Field)> {
    let mut schema = Schema::builder();
    let text = schema.add_text_field("text", TEXT);
    let index = Index::create_in_ram(schema.build());
    let mut writer = index.writer_with_num_threads(1, 200_000_000)?;
    for document in texts() {
        writer.add_document(doc!(text => document))?;
    }
    writer.commit()?;
    Ok((index.reader()?.searcher(), text))
}

fn default_collector(searcher: &Searcher, text: Field, query: &Query) -> usize {
    let terms = query.leaves.iter().flat_map(Leaf::parts).map(|term| {
        let term = Term::from_field_text(text, term);
        let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
        (Occur::Should, Box::new(query) as Box<dyn tantivy::query::Query>)
    });
    let query = BooleanQuery::new(terms.collect());
    searcher.search(&query, &TopDocs::with_limit(BEST).order_by_score()).expect("the index can be read").len()
}

fn median(mut run: impl FnMut() -> usize) -> Duration {
    let mut times: Vec<_> = (0..15)
        .map(|_| {
            let begun = Instant::now();
            black_box(run());
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2] / u32::try_from(QUERIES).expect("a small number")
}

fn search(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (number, text) in texts().enumerate() {
        fs::write(folder.path().join(format!("{number}.txt")), text).expect("the folder can be written");
    }
    let (searcher, text) = tantivy_index().expect("the index is built");
    let (one, many) = (holdings(folder.path(), 1), holdings(folder.path(), 64));
    let queries = queries();

    let mut theirs = || queries.iter().map(|query| default_collector(&searcher, text, query)).sum();
    let mut single = || queries.iter().map(|query| both_rounds(&one, query)).sum();
    let mut sharded = || queries.iter().map(|query| both_rounds(&many, query)).sum();
    assert_eq!((theirs(), single()), (single(), sharded()), "all find as much");

    let mut group = criterion.benchmark_group("256 queries, best 10 of 20,000 documents");
    group.bench_function("tantivy's default collector, one segment", |bencher| bencher.iter(&mut theirs));
    group.bench_function("exact, both rounds, 1 shard", |bencher| bencher.iter(&mut single));
    group.bench_function("exact, both rounds, 64 shards", |bencher| bencher.iter(&mut sharded));
    group.finish();

    let (theirs, single, sharded) = (median(theirs), median(single), median(sharded));
    println!(
        "a query: default {theirs:?}, exact {single:?} ({:.2} of default), in 64 shards {sharded:?} ({:.2} of default)",
        single.as_secs_f64() / theirs.as_secs_f64(),
        sharded.as_secs_f64() / theirs.as_secs_f64(),
    );
}

criterion_group!(benches, search);
criterion_main!(benches);
