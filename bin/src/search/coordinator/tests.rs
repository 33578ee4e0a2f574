use core::error::Error;
use core::time::Duration;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use rolecall::{Clock, Epoch, Fence, Incarnation, TermOver, Time};
use tempfile::TempDir;

use super::{Coordinator, Hedging, Pace, SearchAnswer, SearchError, SearchRequest, TaskClient, TaskFailure, Worker};
use crate::search::holdings::Holdings;
use crate::search::index::IndexStorage;
use crate::search::placement::{choices, shards_of};
use crate::search::shares::Shares;
use crate::search::testing::{
    TokioClock, index_all, queries, queries_of_the_world, write_documents, write_documents_of_the_world,
};
use crate::search::wire::{Share, Task, TaskAnswer, TaskRequest, VERSION};
use crate::search::{Ranking, Settings, ShardId};

type Outcome = Result<(), Box<dyn Error>>;

/// Behaviour of a worker that gets tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    Fine,
    Down,
    Hung,
    /// Counts documents and words that no disk would hold.
    Boasting,
    /// Says that the sender's term is over.
    Deposed,
}

/// Called before each task, with the worker's own holdings.
type Hook = Box<dyn FnMut(&Task, &Holdings) + Send>;

type Members = BTreeMap<Arc<str>, (Worker, Arc<Holdings>)>;

/// Workers in the same process. Tasks and answers go through JSON, as on the network.
#[derive(Clone)]
struct Crew {
    workers: Arc<Members>,
    moods: Arc<Mutex<BTreeMap<Arc<str>, Mood>>>,
    hook: Arc<Mutex<Option<Hook>>>,
    settings: Settings,
}

impl Crew {
    fn mood(&self, id: &str, mood: Mood) {
        self.moods.lock().expect("no test panicked").insert(id.into(), mood);
    }

    fn list(&self) -> Vec<Worker> {
        self.workers.values().map(|(worker, _)| worker.clone()).collect()
    }
}

impl TaskClient for Crew {
    async fn send(&self, worker: &Worker, task: &Task, _deadline: Time) -> Result<TaskAnswer, TaskFailure> {
        let mood = self.moods.lock().expect("no test panicked").get(&worker.id).copied().unwrap_or(Mood::Fine);
        match mood {
            Mood::Fine | Mood::Boasting => {}
            Mood::Down => return Err(TaskFailure::Failed("connection refused".into())),
            Mood::Hung => core::future::pending().await,
            Mood::Deposed => {
                return Err(TermOver { fence: Fence { incarnation: Incarnation(1), epoch: Epoch(1) } }.into());
            }
        }
        let (_, holdings) = &self.workers[&worker.id];
        if let Some(hook) = &mut *self.hook.lock().expect("no test panicked") {
            hook(task, holdings);
        }
        let fence = Fence { incarnation: Incarnation(1), epoch: Epoch(2) };
        let request = TaskRequest { version: VERSION, fence, settings: self.settings, share: None, task: task.clone() };
        let sent = serde_json::to_vec(&request).expect("a task is JSON");
        let received: TaskRequest = serde_json::from_slice(&sent).expect("a task is read back");
        assert_eq!(received, request);
        let mut answer = holdings.answer(&received.task).map_err(|error| TaskFailure::Failed(error.to_string()))?;
        if mood == Mood::Boasting {
            boast(&mut answer);
        }
        let sent = serde_json::to_vec(&answer).expect("an answer is JSON");
        Ok(serde_json::from_slice(&sent).expect("an answer is read back"))
    }
}

/// Puts the highest number wherever a worker counts.
fn boast(answer: &mut TaskAnswer) {
    match answer {
        TaskAnswer::Statistics(shards) => {
            for statistics in shards.iter_mut().map(|shard| &mut shard.statistics) {
                (statistics.documents, statistics.words) = (u64::MAX, u64::MAX);
                statistics.frequencies.fill(u64::MAX);
            }
        }
        TaskAnswer::Search { shards, .. } => shards.iter_mut().for_each(|shard| shard.documents = u64::MAX),
        TaskAnswer::Hold(_) | TaskAnswer::Snippets(_) => {}
    }
}

/// A leader and its workers over one folder of documents.
struct Cluster {
    crew: Crew,
    coordinator: Coordinator<Crew>,
    here: Arc<Holdings>,
    clock: TokioClock,
}

fn settings(shards: u16) -> Settings {
    Settings { shards: shards.try_into().expect("a number of shards that is accepted"), ranking: Ranking::Bm25 }
}

impl Cluster {
    /// Workers `a`, `b`, and so on, all of whose shards are indexed. A leader without workers has all shards itself, but searches as
    /// if there were others.
    fn new(folder: &Path, workers: u8, settings: Settings) -> Self {
        Self::with(folder, workers, settings, Pace { alone: false, ..Pace::default() })
    }

    /// Leader without workers, which searches alone.
    fn alone(folder: &Path, settings: Settings) -> Self {
        Self::with(folder, 0, settings, Pace::default())
    }

    fn with(folder: &Path, workers: u8, settings: Settings, pace: Pace) -> Self {
        let open = || {
            let opened = Holdings::open(folder, settings, IndexStorage::Memory, SystemTime::now());
            Arc::new(opened.expect("the folder can be read"))
        };
        let names: Vec<String> = (0..workers).map(|number| char::from(b'a' + number).to_string()).collect();
        let ids: Vec<&str> = names.iter().map(String::as_str).collect();
        let workers = ids.iter().map(|&id| {
            let holdings = open();
            let (mut first, second): (Vec<_>, Vec<_>) = shards_of(id, &ids, settings.shards.count())
                .partition(|&shard| choices(shard, &ids).first() == Some(&id));
            let share = Share {
                first: first.len(),
                hold: {
                    first.extend(second);
                    first
                },
                ..Share::default()
            };
            holdings.hold(&share);
            index_all(&holdings, Time::ZERO);
            let worker = Worker { id: id.into(), address: format!("{id}:80").into() };
            (worker.id.clone(), (worker, holdings))
        });
        let crew = Crew { workers: Arc::new(workers.collect()), moods: Arc::default(), hook: Arc::default(), settings };
        let here = open();
        if ids.is_empty() {
            here.want(ShardId::all(settings.shards.count()));
            index_all(&here, Time::ZERO);
        }
        let clock = TokioClock::new();
        let coordinator = Coordinator::new(
            crew.clone(),
            Arc::clone(&here),
            Arc::new(Shares::new(settings.shards.count())),
            Arc::new(clock),
            pace,
            false,
        );
        Self { crew, coordinator, here, clock }
    }

    async fn search(&self, query: &str, limit: usize, offset: usize) -> Result<SearchAnswer, SearchError> {
        let request = SearchRequest { query: query.to_owned(), limit, offset };
        self.coordinator.search(&request, &|| self.crew.list()).await
    }

    /// Parts of an answer that must not depend on who answers.
    async fn facts(&self, query: &str) -> (Vec<(String, String, u32, String)>, u64) {
        let answer = self.search(query, 20, 0).await.expect("the query is well formed");
        assert!(!answer.partial, "{query}: {} are missing", answer.missing);
        let hits = answer.hits.into_iter();
        (hits.map(|hit| (hit.document, hit.title, hit.score.to_bits(), hit.snippet)).collect(), answer.total)
    }

    fn index(&self) {
        index_all(&self.here, Time::ZERO);
        self.crew.workers.values().for_each(|(_, holdings)| index_all(holdings, Time::ZERO));
    }

    /// Merges what can be merged, as some time later.
    fn merge(&self) {
        let holdings = self.crew.workers.values().map(|(_, holdings)| holdings).chain([&self.here]);
        holdings
            .for_each(|holdings| holdings.merge(&|| Time::ZERO + Duration::from_secs(60)).expect("they fit in memory"));
    }

    fn on_task(&self, hook: impl FnMut(&Task, &Holdings) + Send + 'static) {
        *self.crew.hook.lock().expect("no test panicked") = Some(Box::new(hook));
    }
}

fn documents(count: u64) -> Result<TempDir, std::io::Error> {
    let folder = tempfile::tempdir()?;
    write_documents(folder.path(), count, 11)?;
    Ok(folder)
}

#[tokio::test(start_paused = true)]
async fn any_number_of_workers_gives_the_answers_of_one_index_to_the_last_bit() -> Outcome {
    let folder = documents(250)?;
    let single = Cluster::new(folder.path(), 0, settings(1));
    let mut clusters = Vec::from([0, 1, 2, 5, 10].map(|workers| Cluster::new(folder.path(), workers, settings(24))));
    clusters.push(Cluster::alone(folder.path(), settings(24)));
    let queries = queries(64, 17);
    for is_merged in [false, true] {
        for query in &queries {
            let expected = single.facts(query).await;
            for cluster in &clusters {
                let workers = cluster.crew.list().len();
                assert_eq!(cluster.facts(query).await, expected, "{query} with {workers} workers, merged: {is_merged}");
            }
        }
        clusters.iter().for_each(Cluster::merge);
    }

    for number in 0..40 {
        let path = folder.path().join(format!("part-{}/{number}.txt", number % 5));
        match number % 3 {
            0 if path.exists() => fs::remove_file(path)?,
            _ => fs::write(path, "bafo difo bafo gufo new words")?,
        }
    }
    single.index();
    clusters.iter().for_each(Cluster::index);
    // The workers' statistics are asked for again.
    tokio::time::advance(Duration::from_secs(2)).await;
    let mut found = 0;
    for is_merged in [false, true] {
        for query in queries.iter().map(String::as_str).chain(["new", "bafo difo words"]) {
            let expected = single.facts(query).await;
            found += expected.0.len();
            for cluster in &clusters {
                let workers = cluster.crew.list().len();
                assert_eq!(cluster.facts(query).await, expected, "{query} with {workers} workers, merged: {is_merged}");
            }
        }
        clusters.iter().for_each(Cluster::merge);
    }
    assert!(found > 1000, "only {found} hits: the queries show nothing");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn answers_in_the_scripts_of_the_world_are_those_of_one_index_to_the_last_bit() -> Outcome {
    let folder = tempfile::tempdir()?;
    write_documents_of_the_world(folder.path(), 160, 23)?;
    let single = Cluster::new(folder.path(), 0, settings(1));
    let mut clusters = Vec::from([1, 3, 10].map(|workers| Cluster::new(folder.path(), workers, settings(24))));
    clusters.push(Cluster::alone(folder.path(), settings(24)));
    clusters.iter().for_each(Cluster::merge);
    let (mut found, mut marked) = (0, 0);
    for query in queries_of_the_world(120, 29) {
        let expected = single.facts(&query).await;
        found += expected.0.len();
        marked += expected.0.iter().filter(|(.., snippet)| snippet.contains("<mark>")).count();
        for cluster in &clusters {
            assert_eq!(cluster.facts(&query).await, expected, "{query} with {} workers", cluster.crew.list().len());
        }
    }
    assert!(found > 1_000, "only {found} hits: the queries show nothing");
    assert_eq!(marked, found, "every snippet marks what was found");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn pages_follow_each_other_without_gaps() -> Outcome {
    let folder = documents(120)?;
    let cluster = Cluster::new(folder.path(), 3, settings(16));
    let whole = cluster.search("bace cece dice", 60, 0).await?;
    let mut pages = Vec::new();
    for offset in (0..60).step_by(7) {
        pages.extend(cluster.search("bace cece dice", 7.min(60 - offset), offset).await?.hits);
    }
    assert!(whole.total > 60 && whole.hits.len() == 60);
    assert_eq!(pages, whole.hits);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_fails_is_replaced_within_the_same_search() -> Outcome {
    let folder = documents(120)?;
    let cluster = Cluster::new(folder.path(), 4, settings(32));
    let expected = cluster.facts("bafo difo").await;
    for id in ["a", "b", "c", "d"] {
        cluster.crew.mood(id, Mood::Down);
        let begun = cluster.clock.now();
        assert_eq!(cluster.facts("bafo difo").await, expected);
        assert_eq!(cluster.clock.now(), begun, "a refusal is not waited for");
        cluster.crew.mood(id, Mood::Fine);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_hangs_is_replaced_after_a_moment_and_then_asked_last() -> Outcome {
    let folder = documents(120)?;
    let cluster = Cluster::new(folder.path(), 4, settings(32));
    let expected = cluster.facts("bafo difo").await;
    cluster.crew.mood("b", Mood::Hung);
    let begun = cluster.clock.now();
    assert_eq!(cluster.facts("bafo difo").await, expected);
    let Hedging { at_most, .. } = Pace::default().hedging;
    assert_eq!(cluster.clock.now().since(begun), at_most, "only the first round waits");
    let again = cluster.clock.now();
    assert_eq!(cluster.facts("bafo difo").await, expected);
    assert_eq!(cluster.clock.now(), again);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn once_it_is_known_how_long_answers_take_a_worker_that_hangs_is_replaced_much_sooner() -> Outcome {
    let folder = documents(120)?;
    let cluster = Cluster::new(folder.path(), 4, settings(32));
    let expected = cluster.facts("bafo difo").await;
    for _ in 0..20 {
        assert_eq!(cluster.facts("bafo difo").await, expected);
    }
    cluster.crew.mood("b", Mood::Hung);
    let begun = cluster.clock.now();
    assert_eq!(cluster.facts("bafo difo").await, expected);
    let Hedging { at_least, .. } = Pace::default().hedging;
    assert_eq!(cluster.clock.now().since(begun), at_least * 2, "each round waits as long as is usual");
    assert_eq!(cluster.facts("bafo difo").await, expected);
    assert_eq!(cluster.clock.now().since(begun), at_least * 3, "it is slow for the third time");
    let again = cluster.clock.now();
    assert_eq!(cluster.facts("bafo difo").await, expected);
    assert_eq!(cluster.clock.now(), again);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_both_choices_fail_for_is_missing_and_counted() -> Outcome {
    let folder = documents(120)?;
    let cluster = Cluster::new(folder.path(), 4, settings(32));
    let whole = cluster.search("bafo difo", 1000, 0).await?;
    for mood in [Mood::Down, Mood::Hung] {
        cluster.crew.mood("a", mood);
        cluster.crew.mood("c", mood);
        let answer = cluster.search("bafo difo", 1000, 0).await?;
        let ids = ["a", "b", "c", "d"];
        let lost = |path: &str| {
            let chosen = choices(ShardId::of(path, 32), &ids);
            chosen.iter().all(|&id| id == "a" || id == "c")
        };
        let files = crate::search::documents::scan(folder.path(), SystemTime::now())?.documents;
        let missing = files.iter().filter(|file| lost(&file.path)).count();
        let mut expected: Vec<_> = whole.hits.iter().map(|hit| &hit.document).filter(|path| !lost(path)).collect();
        let mut found: Vec<_> = answer.hits.iter().map(|hit| &hit.document).collect();
        expected.sort();
        found.sort();
        assert!(missing > 0 && answer.partial);
        assert_eq!(answer.missing, missing as u64);
        assert_eq!(found, expected);
        assert_eq!(answer.total, expected.len() as u64);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn workers_that_count_beyond_all_measure_are_added_up_to_the_highest_number() -> Outcome {
    let folder = documents(120)?;
    let cluster = Cluster::new(folder.path(), 4, settings(32));
    for id in ["a", "b", "c", "d"] {
        cluster.crew.mood(id, Mood::Boasting);
    }
    let answer = cluster.search("bafo difo", 10, 0).await?;
    assert_eq!((answer.total, answer.hits.len(), answer.partial), (u64::MAX, 10, false));
    for id in ["a", "b", "c", "d"] {
        cluster.crew.mood(id, Mood::Down);
    }
    assert_eq!(cluster.search("bafo difo", 10, 0).await?.missing, u64::MAX);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_rescan_between_the_rounds_changes_nothing() -> Outcome {
    let folder = documents(120)?;
    let cluster = Cluster::new(folder.path(), 3, settings(8));
    let expected = cluster.facts("bafo difo").await;
    let path = folder.path().join("part-0/0.md");
    let mut changes = 0;
    cluster.on_task(move |task, holdings| {
        if matches!(task, Task::Search { .. } | Task::Snippets { .. }) {
            changes += 1;
            fs::write(&path, format!("bafo difo {changes}")).expect("the folder can be written");
            index_all(holdings, Time::ZERO);
        }
    });
    assert_eq!(cluster.facts("bafo difo").await, expected);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn both_rounds_are_repeated_when_a_snapshot_is_gone() -> Outcome {
    let folder = documents(120)?;
    let cluster = Cluster::new(folder.path(), 2, settings(8));
    fs::write(folder.path().join("new.txt"), "bafo unseen")?;
    let mut rounds = [0, 0];
    let counted = Arc::new(Mutex::new(rounds));
    let counts = Arc::clone(&counted);
    cluster.on_task(move |task, holdings| {
        match task {
            Task::Statistics { .. } => rounds[0] += 1,
            Task::Search { .. } => {
                rounds[1] += 1;
                // Long after the state before was replaced.
                index_all(holdings, Time::ZERO);
                index_all(holdings, Time::ZERO + Duration::from_secs(3600));
            }
            Task::Hold | Task::Snippets { .. } => {}
        }
        *counts.lock().expect("no test panicked") = rounds;
    });
    let (hits, total) = cluster.facts("unseen").await;
    assert_eq!((hits.len(), total), (1, 1));
    let rounds = *counted.lock().expect("no test panicked");
    assert!(rounds[0] > 2 && rounds[1] > 2, "{rounds:?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn statistics_are_asked_for_once_while_the_documents_stay_as_they_are() -> Outcome {
    let folder = documents(120)?;
    let cluster = Cluster::new(folder.path(), 2, settings(8));
    let asked = Arc::new(Mutex::new(0));
    let count = Arc::clone(&asked);
    cluster.on_task(move |task, _| {
        *count.lock().expect("no test panicked") += u32::from(matches!(task, Task::Statistics { .. }));
    });
    let asked = || core::mem::take(&mut *asked.lock().expect("no test panicked"));
    let expected = cluster.facts("bafo difo").await;
    assert_eq!(asked(), 2);
    for _ in 0..5 {
        tokio::time::advance(Duration::from_millis(900)).await;
        assert_eq!(cluster.facts("bafo difo").await, expected);
    }
    cluster.facts("difo").await;
    assert_eq!(asked(), 0, "each answer shows that they are still right");
    cluster.facts("bafo gufo").await;
    assert_eq!(asked(), 2, "a word is new");

    fs::write(folder.path().join("new.txt"), "bafo unseen")?;
    cluster.index();
    assert_eq!(cluster.facts("bafo difo").await, expected, "as it was before");
    let found = cluster.facts("bafo difo").await;
    assert_eq!((found.1, asked() > 0), (expected.1 + 1, true), "the last answer told of a newer state");
    tokio::time::advance(Duration::from_secs(2)).await;
    cluster.facts("bafo difo").await;
    assert_eq!(asked(), 2, "nobody has asked for a while");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_searches_alone_finds_new_documents_at_once() -> Outcome {
    let folder = documents(60)?;
    let cluster = Cluster::alone(folder.path(), settings(8));
    cluster.merge();
    assert_eq!(cluster.facts("unseen").await.1, 0);
    fs::write(folder.path().join("new.txt"), "bafo unseen")?;
    cluster.index();
    let (hits, total) = cluster.facts("unseen").await;
    assert_eq!((hits.len(), total), (1, 1));
    cluster.here.want(ShardId::all(8).skip(1));
    cluster.here.look(SystemTime::now(), Time::ZERO)?;
    cluster.here.look(SystemTime::now(), Time::ZERO + Duration::from_secs(3600))?;
    let answer = cluster.search("bafo", 10, 0).await?;
    assert!(answer.partial, "it does not have every shard, and nobody else does");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_shard_that_is_being_indexed_is_waited_for() -> Outcome {
    let folder = documents(60)?;
    let ready = Cluster::new(folder.path(), 1, settings(8));
    let cluster = Cluster::new(folder.path(), 1, settings(8));
    let (_, holdings) = &cluster.crew.workers["a"];
    holdings.want([]);
    index_all(holdings, Time::ZERO);
    index_all(holdings, Time::ZERO + Duration::from_secs(3600));
    let mut asked = 0;
    cluster.on_task(move |_, holdings| {
        asked += 1;
        if asked == 10 {
            holdings.want(ShardId::all(8));
            index_all(holdings, Time::ZERO);
        }
    });
    assert_eq!(cluster.facts("bafo").await, ready.facts("bafo").await);

    holdings.want([]);
    index_all(holdings, Time::ZERO);
    index_all(holdings, Time::ZERO + Duration::from_secs(3600));
    let answer = cluster.search("bafo", 10, 0).await?;
    assert_eq!((answer.partial, answer.missing, answer.hits.len()), (true, 60, 0));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_search_ends_with_its_term() -> Outcome {
    let folder = documents(20)?;
    let cluster = Cluster::new(folder.path(), 2, settings(8));
    cluster.crew.mood("a", Mood::Deposed);
    assert!(matches!(cluster.search("bafo", 10, 0).await, Err(SearchError::TermOver(_))));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn bad_requests_are_told_what_is_accepted() -> Outcome {
    let folder = tempfile::tempdir()?;
    let cluster = Cluster::new(folder.path(), 0, settings(8));
    let refused = |error: Result<SearchAnswer, SearchError>| error.expect_err("it is refused").to_string();
    assert!(refused(cluster.search("", 10, 0).await).contains("at least one word"));
    assert!(refused(cluster.search("a", 1001, 0).await).contains("at most 1000"));
    assert!(refused(cluster.search("a", 10, 10_001).await).contains("at most 10000"));

    let nothing = cluster.search("word", 10, 0).await?;
    assert_eq!((nothing.hits.len(), nothing.total, nothing.partial), (0, 0, false), "an empty folder is whole");
    Ok(())
}

/// The books that come with the toolchain; `None` on a machine without them.
fn rust_documentation() -> Option<std::path::PathBuf> {
    let rustc = std::process::Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let folder = Path::new(String::from_utf8(rustc.stdout).ok()?.trim()).join("share/doc/rust/html/nomicon");
    folder.is_dir().then_some(folder)
}

#[tokio::test(start_paused = true)]
async fn real_pages_rank_the_same_with_five_workers_as_in_one_index() -> Outcome {
    let Some(folder) = rust_documentation() else {
        eprintln!("not run: this machine lacks the component rust-docs");
        return Ok(());
    };
    let single = Cluster::new(&folder, 0, settings(1));
    let cluster = Cluster::new(&folder, 5, settings(64));
    let queries =
        ["ownership", "drop check", "\"undefined behavior\" pointer", "unsafe AND trait", "send sync NOT ffi"];
    for query in queries {
        let expected = single.facts(query).await;
        assert!(!expected.0.is_empty(), "{query}");
        assert_eq!(cluster.facts(query).await, expected, "{query}");
    }
    Ok(())
}
