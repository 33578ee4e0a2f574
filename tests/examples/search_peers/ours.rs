//! Three nodes of this build as processes on a real ZooKeeper, asked over HTTP at the leader.

use core::time::Duration;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::{Request, StatusCode};
use rolecall::http::{Client, ClientLimits};
use rolecall::{Clock, SystemClock, TokioNet};
use rolecall_tests::ports;
use rolecall_tests::process::Web;
use rolecall_tests::zookeeper::ZooKeeperServer;
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::latencies::{Latencies, Load};
use crate::questions::{Questions, Unasked};
use crate::table::Row;
use crate::{Outcome, usage};

const NODES: usize = 3;
/// Longer than the nodes need to index the documents.
const LIMIT: Duration = Duration::from_secs(3600);

pub(crate) async fn measure(documents: &Path, questions: &Questions, loads: &[Load], idle: Duration) -> Outcome<Row> {
    let zookeeper = ZooKeeperServer::start().await?;
    let folder = TempDir::new()?;
    let begun = Instant::now();
    let nodes = (0..NODES).map(|number| Node::start(number, &zookeeper.url(), documents, folder.path()));
    let nodes = nodes.collect::<Outcome<Vec<_>>>()?;
    let leader = until_whole(&nodes).await?;
    let indexing = begun.elapsed();

    let rest = at_rest(&nodes, idle).await?;
    let clock = Arc::new(SystemClock::new());
    let client = Client::new(Arc::new(TokioNet), clock.clone(), ClientLimits::default());
    let asker = Asker { client, clock, address: leader };
    let unasked = Arc::new(questions.unasked());
    let mut latencies = Vec::new();
    for &load in loads {
        latencies.push(under(load, &asker, &unasked).await?);
    }
    let memory = nodes.iter().map(|node| usage::memory(node.process.id())).collect::<Outcome<Vec<_>>>()?;
    let memory = memory.iter().map(|(all, own)| format!("{all} ({own})")).collect::<Vec<_>>().join(", ");
    let remarks = format!("{NODES} nodes by HTTP; at rest {rest}; memory in MiB (not files): {memory}");
    let copies = u32::try_from(NODES).expect("a few");
    Ok(Row { engine: "Rolecall".to_owned(), indexing, copies, latencies, remarks })
}

/// Use of the processor at rest, by node.
async fn at_rest(nodes: &[Node], idle: Duration) -> Outcome<String> {
    let times = || nodes.iter().map(|node| usage::processor_time(node.process.id())).collect::<Outcome<Vec<_>>>();
    // Shards that were just built are looked at again once their files' stamps are old enough.
    tokio::time::sleep(Duration::from_secs(10)).await;
    let before = times()?;
    tokio::time::sleep(idle).await;
    let shares = times()?.into_iter().zip(before).map(|(after, before)| {
        let share = (after - before).as_secs_f64() / idle.as_secs_f64();
        format!("{:.2} %", share * 100.0)
    });
    Ok(shares.collect::<Vec<_>>().join(", "))
}

/// Waits until every shard has all its copies. Returns the address of the leader.
async fn until_whole(nodes: &[Node]) -> Outcome<String> {
    let web = Web::default();
    let end = Instant::now() + LIMIT;
    while Instant::now() < end {
        for node in nodes {
            let Some(status) = web.status(&node.address).await else { continue };
            let (shares, workers) = (&status["shares"], status["workers"].as_array().map(Vec::len));
            let is_whole = shares["whole"].is_u64() && shares["whole"] == shares["shards"];
            if status["role"] == "leader" && workers == Some(nodes.len() - 1) && is_whole {
                return Ok(node.address.clone());
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let logs: Vec<_> = nodes.iter().map(|node| node.log()).collect();
    Err(format!("the nodes are not whole after {LIMIT:?}; they wrote:\n{}", logs.join("\n")).into())
}

async fn under(load: Load, asker: &Asker, unasked: &Arc<Unasked>) -> Outcome<Latencies> {
    let begun = Instant::now();
    let mut clients = JoinSet::new();
    for _ in 0..load.clients {
        let (asker, unasked) = (asker.clone(), Arc::clone(unasked));
        clients.spawn(async move {
            let mut times = Vec::new();
            while begun.elapsed() < load.length {
                let asked = Instant::now();
                asker.ask(unasked.next()).await?;
                times.push(asked.elapsed());
            }
            Ok::<_, String>(times)
        });
    }
    let times = clients.join_all().await.into_iter().collect::<Result<Vec<_>, _>>()?;
    Latencies::of(times.into_iter().flatten().collect(), begun.elapsed())
}

#[derive(Clone)]
struct Asker {
    client: Client,
    clock: Arc<SystemClock>,
    address: String,
}

impl Asker {
    async fn ask(&self, question: &str) -> Result<(), String> {
        let path = format!("/search?q={}", question.replace(' ', "+"));
        let request = Request::get(path).body(Bytes::new()).map_err(|error| error.to_string())?;
        let answer = self.client.send(&self.address, request, self.clock.now() + Duration::from_secs(60)).await;
        let answer = answer.map_err(|error| error.to_string())?;
        let is_whole = answer.body().windows(15).any(|part| part == br#""partial":false"#);
        if answer.status() == StatusCode::OK && is_whole {
            return Ok(());
        }
        Err(format!("{question}: {} {}", answer.status(), String::from_utf8_lossy(answer.body())))
    }
}

/// A node. Killed when dropped.
struct Node {
    process: Child,
    address: String,
    log: std::path::PathBuf,
}

impl Node {
    fn start(number: usize, store: &str, documents: &Path, folder: &Path) -> Outcome<Self> {
        let (id, address) = (format!("node-{number}"), format!("127.0.0.1:{}", ports::free()));
        let log = folder.join(format!("{id}.log"));
        let process = Command::new(std::env::current_exe()?)
            .args(["node", "--store", store, "--id", &id, "--listen", &address])
            .args(["--session-timeout", "10s", "--store-tick", "100ms"])
            .arg("--documents")
            .arg(documents)
            .arg("--data")
            .arg(folder.join(&id))
            .env("RUST_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()?;
        Ok(Self { process, address, log })
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
