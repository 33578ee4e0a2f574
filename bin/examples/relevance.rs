//! Quality of the rankings, judged by people's relevance judgements: MAP and nDCG@10 over a test collection.
//!
//! `cargo run --release -p rolecall-cli --example relevance -- FOLDER`, where FOLDER holds `documents.tsv` (`id<TAB>text`),
//! `queries.tsv` (`id<TAB>number<TAB>text`) and `qrels.txt` (TREC's form: `query 0 document relevance`).

use core::error::Error;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rolecall::SystemClock;
use rolecall_cli::search::coordinator::{Coordinator, Pace, SearchRequest, TaskClient, TaskFailure, Worker};
use rolecall_cli::search::holdings::Holdings;
use rolecall_cli::search::index::IndexStorage;
use rolecall_cli::search::shares::Shares;
use rolecall_cli::search::wire::{MAX_LIMIT, Task, TaskAnswer};
use rolecall_cli::search::{Ranking, Settings, ShardId};
use rolecall_core::Time;

type Judgements = BTreeMap<String, BTreeMap<String, u32>>;

/// Client without workers: the coordinator asks its own node.
struct Nobody;

impl TaskClient for Nobody {
    async fn send(&self, worker: &Worker, _task: &Task, _deadline: Time) -> Result<TaskAnswer, TaskFailure> {
        Err(TaskFailure::Failed(format!("there is no {}", worker.id)))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from).ok_or("give the folder of a test collection")?;
    let judgements = judgements(&fs::read_to_string(folder.join("qrels.txt"))?)?;
    let queries = fs::read_to_string(folder.join("queries.tsv"))?;
    let documents = tempfile::tempdir()?;
    for line in fs::read_to_string(folder.join("documents.tsv"))?.lines() {
        let (id, text) = line.split_once('\t').ok_or("documents.tsv: a line without a tab")?;
        fs::write(documents.path().join(id).with_extension("txt"), text)?;
    }
    for ranking in [Ranking::Tfidf, Ranking::Bm25] {
        let coordinator = coordinator(documents.path(), ranking)?;
        let (mut precision, mut gain, mut judged) = (0.0, 0.0, 0.0);
        for line in queries.lines() {
            let mut fields = line.split('\t');
            let (Some(id), Some(text)) = (fields.next(), fields.nth(1)) else { continue };
            let Some(relevant) = judgements.get(id) else { continue };
            // The questions are prose, so their characters must not be read as syntax.
            let query = text.replace(|c: char| !c.is_alphanumeric(), " ").to_lowercase();
            let request = SearchRequest { query, limit: MAX_LIMIT, offset: 0 };
            let answer = coordinator.search(&request, &Vec::new).await?;
            let found: Vec<_> = answer.hits.iter().map(|hit| hit.document.trim_end_matches(".txt")).collect();
            precision += average_precision(&found, relevant);
            gain += normalised_gain(&found, relevant, 10);
            judged += 1.0;
        }
        println!("{ranking}: MAP {:.3}, nDCG@10 {:.3} over {judged} queries", precision / judged, gain / judged);
    }
    Ok(())
}

fn coordinator(documents: &Path, ranking: Ranking) -> Result<Coordinator<Nobody>, Box<dyn Error>> {
    let settings = Settings { ranking, ..Settings::default() };
    let holdings = Holdings::open(documents, settings, IndexStorage::Memory, SystemTime::now())?;
    holdings.want(ShardId::all(settings.shards.count()));
    for due in holdings.look(SystemTime::now(), Time::ZERO)? {
        holdings.refresh(&due, Time::ZERO)?;
    }
    let shares = Arc::new(Shares::new(settings.shards.count()));
    Ok(Coordinator::new(Nobody, Arc::new(holdings), shares, Arc::new(SystemClock::new()), Pace::default(), false))
}

fn judgements(text: &str) -> Result<Judgements, Box<dyn Error>> {
    let mut judgements = Judgements::new();
    for line in text.lines() {
        let mut fields = line.split_whitespace();
        let (Some(query), Some(document), Some(relevance)) = (fields.next(), fields.nth(1), fields.next()) else {
            return Err(format!("qrels.txt: `{line}` is not `query 0 document relevance`").into());
        };
        let relevance: i32 = relevance.parse()?;
        if let Ok(relevance @ 1..) = u32::try_from(relevance) {
            judgements.entry(query.to_owned()).or_default().insert(document.to_owned(), relevance);
        }
    }
    Ok(judgements)
}

/// Mean precision at the ranks of the relevant documents.
fn average_precision(found: &[&str], relevant: &BTreeMap<String, u32>) -> f64 {
    let (mut hits, mut sum) = (0.0, 0.0);
    for (place, document) in (1_u32..).zip(found) {
        if relevant.contains_key(*document) {
            hits += 1.0;
            sum += hits / f64::from(place);
        }
    }
    sum / relevant.len() as f64
}

/// Discounted gain of the first `depth` documents, as a fraction of the best possible one.
fn normalised_gain(found: &[&str], relevant: &BTreeMap<String, u32>, depth: usize) -> f64 {
    let gain = |grades: &mut dyn Iterator<Item = u32>| -> f64 {
        (2_u32..).zip(grades.take(depth)).map(|(place, grade)| f64::from(grade) / f64::from(place).log2()).sum()
    };
    let mut ideal: Vec<_> = relevant.values().copied().collect();
    ideal.sort_unstable_by(|one, other| other.cmp(one));
    let found = gain(&mut found.iter().map(|document| relevant.get(*document).copied().unwrap_or_default()));
    found / gain(&mut ideal.into_iter())
}
