//! Search on whole nodes: the embedded store, real sockets, the real clock.

use core::convert::Infallible;
use core::error::Error;
use core::time::Duration;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use rolecall::http::{Client, ClientLimits, HttpNode, HttpNodeBuilder};
use rolecall::store::{MemoryStore, Store};
use rolecall::{Clock, Config, Epoch, Fence, Role, SystemClock, TokioNet};
use rolecall_cli::search::coordinator::Pace;
use rolecall_cli::search::index::IndexStorage;
use rolecall_cli::search::wire::{Task, TaskRequest, VERSION};
use rolecall_cli::search::{Ranking, SearchOptions, SearchService, Settings, ShardId, Work};
use serde_json::Value;

type Outcome = Result<(), Box<dyn Error>>;

/// Far longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

struct Node {
    running: HttpNode,
    service: SearchService,
}

async fn start(store: &MemoryStore, id: &str, documents: &Path, storage: IndexStorage) -> Result<Node, Box<dyn Error>> {
    let service = SearchService::open(SearchOptions {
        token: None,
        node: id.into(),
        documents: Arc::new(documents.to_owned()),
        storage,
        settings: settings(),
        rescan: Duration::from_millis(200),
        pace: Pace::default(),
        work: Work::OnThreads,
        net: Arc::new(TokioNet),
        clock: Arc::new(SystemClock::new()),
    })?;
    let store = store.clone();
    let open = move |participant| Ok::<_, Infallible>(Box::new(store.connect(participant)) as Box<dyn Store>);
    let builder = HttpNodeBuilder::new(Config::new(id), service.clone(), open);
    Ok(Node { running: builder.session_timeout(Duration::from_secs(2)).start().await?, service })
}

fn settings() -> Settings {
    Settings { shards: 16.try_into().expect("a number of shards that is accepted"), ranking: Ranking::Bm25 }
}

fn client() -> Client {
    Client::new(Arc::new(TokioNet), Arc::new(SystemClock::new()), ClientLimits::default())
}

async fn send(node: &Node, request: Request<Bytes>) -> Result<Response<Bytes>, Box<dyn Error>> {
    Ok(client().send(node.running.address(), request, SystemClock::new().now() + LIMIT).await?)
}

async fn get(node: &Node, path: &str) -> Result<Response<Bytes>, Box<dyn Error>> {
    send(node, Request::builder().uri(path).body(Bytes::new())?).await
}

async fn post_task(node: &Node, body: impl Into<Bytes>) -> Result<(StatusCode, String), Box<dyn Error>> {
    let request = Request::builder().method(Method::POST).uri("/task").body(body.into())?;
    let answer = send(node, request).await?;
    Ok((answer.status(), code(&answer)))
}

fn code(answer: &Response<Bytes>) -> String {
    let body: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
    body["error"]["code"].as_str().unwrap_or_default().to_owned()
}

/// Waits until a node leads over all others, and tells which.
async fn leader(nodes: &[Node]) -> usize {
    let others = nodes.len() - 1;
    let leading = nodes.iter().map(|node| {
        Box::pin(node.running.observer().until(move |status| {
            status.role == Role::Leader && status.ready().is_ok() && status.workers.members.len() == others
        }))
    });
    let leading = futures_util::future::select_all(leading);
    tokio::time::timeout(LIMIT, leading).await.expect("somebody leads in time").1
}

/// Searches on `node` until the answer is whole and as `wanted`.
async fn search(node: &Node, query: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let searching = async {
        loop {
            if let Ok(answer) = get(node, &format!("/search?q={query}&limit=50")).await
                && answer.status() == StatusCode::OK
                && let Ok(body) = serde_json::from_slice::<Value>(answer.body())
                && body["partial"] == false
                && wanted(&body)
            {
                return body;
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::time::timeout(LIMIT, searching).await.expect("the search is answered as wanted in time")
}

fn write_documents(folder: &Path) -> std::io::Result<()> {
    for number in 0..80 {
        let text = format!("shared word{} word{} other{}", number % 7, number % 3, "x ".repeat(number % 11));
        fs::write(folder.join(format!("{number}.md")), format!("# Document {number}\n\n{text}"))?;
    }
    fs::write(folder.join("junk.txt"), [0_u8, 1, 2])?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_shrinks_to_one_node_gives_the_same_answers() -> Outcome {
    let documents = tempfile::tempdir()?;
    write_documents(documents.path())?;
    let data = tempfile::tempdir()?;
    let store = MemoryStore::new(Arc::new(SystemClock::new()));
    let mut nodes = Vec::new();
    for id in ["a", "b", "c"] {
        nodes.push(start(&store, id, documents.path(), IndexStorage::Disk(data.path().join(id))).await?);
    }
    let mut expected: Option<Value> = None;
    while !nodes.is_empty() {
        let at = leader(&nodes).await;
        let answer = search(&nodes[at], "shared+word1+NOT+word2", |_| true).await;
        assert_eq!(answer["workers"], nodes.len() - 1);
        assert!(answer["epoch"].as_u64() > Some(0));
        let facts = serde_json::json!([answer["hits"], answer["total"], answer["query"]]);
        let expected = expected.get_or_insert_with(|| facts.clone());
        assert!(facts[1].as_u64() > Some(10));
        assert_eq!(facts, *expected, "with {} nodes", nodes.len());
        nodes.remove(at).running.crash().await;
    }

    let again = start(&store, "a", documents.path(), IndexStorage::Disk(data.path().join("a"))).await?;
    let nodes = [again];
    assert_eq!(leader(&nodes).await, 0);
    let answer = search(&nodes[0], "shared+word1+NOT+word2", |_| true).await;
    assert_eq!(Some(serde_json::json!([answer["hits"], answer["total"], answer["query"]])), expected);
    assert_eq!(nodes[0].service.report().skipped.total(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_found_soon_after_they_change() -> Outcome {
    let documents = tempfile::tempdir()?;
    write_documents(documents.path())?;
    let store = MemoryStore::new(Arc::new(SystemClock::new()));
    let nodes = [
        start(&store, "a", documents.path(), IndexStorage::Memory).await?,
        start(&store, "b", documents.path(), IndexStorage::Memory).await?,
    ];
    let leader = &nodes[leader(&nodes).await];
    let path = documents.path().join("fresh.txt");

    fs::write(&path, "brandnew")?;
    search(leader, "brandnew", |body| body["total"] == 1).await;
    fs::write(&path, "brandold")?;
    search(leader, "brandnew", |body| body["total"] == 0).await;
    search(leader, "brandold", |body| body["total"] == 1).await;
    fs::remove_file(&path)?;
    search(leader, "brandold", |body| body["total"] == 0).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_in_the_wrong_place_or_form_are_told_so() -> Outcome {
    let documents = tempfile::tempdir()?;
    write_documents(documents.path())?;
    let store = MemoryStore::new(Arc::new(SystemClock::new()));
    let nodes = [
        start(&store, "a", documents.path(), IndexStorage::Memory).await?,
        start(&store, "b", documents.path(), IndexStorage::Memory).await?,
    ];
    let at = leader(&nodes).await;
    let (leader, worker) = (&nodes[at], &nodes[1 - at]);

    for query in ["", "q=", "q=a&limit=1001", "q=a&limit=x", "q=%22open", "q=(a", "q=%ff", "q=a&offset=99999"] {
        let answer = get(leader, &format!("/search?{query}")).await?;
        assert_eq!((answer.status(), code(&answer).as_str()), (StatusCode::BAD_REQUEST, "bad_query"), "{query}");
    }
    assert_eq!(get(leader, "/nowhere").await?.status(), StatusCode::NOT_FOUND);
    let refused = Request::builder().method(Method::PUT).uri("/search").body(Bytes::new())?;
    assert_eq!(send(leader, refused).await?.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(post_task(leader, "").await?, (StatusCode::CONFLICT, "wrong_role".into()));

    worker.running.observer().until(|status| status.leader.is_some()).await.expect("the node lives");
    let redirect = get(worker, "/search?q=a%20b&limit=3").await?;
    assert_eq!(redirect.status(), StatusCode::TEMPORARY_REDIRECT);
    let location = format!("http://{}/search?q=a%20b&limit=3", leader.running.address());
    assert_eq!(redirect.headers()["location"], location);
    assert_eq!(post_task(worker, "{").await?, (StatusCode::BAD_REQUEST, "bad_task".into()));

    let fence = leader.running.observer().term().expect("its term holds").0;
    let task = |fence: Fence, settings: Settings, shards: u16| {
        let task = Task::Statistics { shards: ShardId::all(shards).collect(), terms: vec!["a".into()] };
        serde_json::to_vec(&TaskRequest { version: VERSION, fence, settings, share: None, task })
    };
    assert_eq!(post_task(worker, task(fence, settings(), 16)?).await?, (StatusCode::OK, String::new()));
    assert_eq!(post_task(worker, task(fence, settings(), 17)?).await?, (StatusCode::BAD_REQUEST, "bad_task".into()));
    let other = Settings { ranking: Ranking::Tfidf, ..settings() };
    assert_eq!(post_task(worker, task(fence, other, 16)?).await?, (StatusCode::CONFLICT, "other_settings".into()));
    let stale = Fence { epoch: Epoch(fence.epoch.0 - 1), ..fence };
    assert_eq!(post_task(worker, task(stale, settings(), 16)?).await?, (StatusCode::CONFLICT, "stale_epoch".into()));
    Ok(())
}
