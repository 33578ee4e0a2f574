//! Nodes on a real Redis, as processes: one that is killed is followed within its lease, and one that was stopped says nothing
//! of its old term.

use core::time::Duration;
use std::collections::BTreeMap;

use rolecall_tests::documents;
use rolecall_tests::process::{Launch, Process, Web, binary};
use rolecall_tests::redis::RedisServer;
use rolecall_tests::wait::until;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::time::Instant;

const LEASE: Duration = Duration::from_secs(4);

/// A server, and three nodes on it.
struct Nodes {
    server: RedisServer,
    documents: TempDir,
    nodes: BTreeMap<&'static str, Process>,
    web: Web,
}

impl Nodes {
    async fn start() -> Self {
        let server = RedisServer::start().await.unwrap_or_else(|error| panic!("{error}"));
        let documents = TempDir::new().expect("a temporary folder");
        documents::generate(documents.path(), 20).expect("a new folder can be written");
        let mut nodes = Self { server, documents, nodes: BTreeMap::new(), web: Web::default() };
        for id in ["a", "b", "c"] {
            let url = nodes.server.url();
            let documents = nodes.documents.path();
            let launch =
                Launch { id, store: &url, documents, address: None, session_timeout: "4s", cluster_token: None };
            nodes.nodes.insert(id, Process::start(&launch));
        }
        nodes
    }

    /// Waits until one of the nodes says that it leads. Returns its id and its epoch.
    async fn leader(&self, but: &str) -> (&'static str, u64) {
        until("a node to lead", async || {
            for (id, node) in self.nodes.iter().filter(|(id, _)| **id != but) {
                if let Some(status) = self.web.status(&node.address).await
                    && status["role"] == "leader"
                {
                    return Some((*id, status["epoch"].as_u64()?));
                }
            }
            None
        })
        .await
    }

    /// Waits until a node works for this leader.
    async fn until_works(&self, id: &str) {
        until(&format!("{id} to work"), async || {
            (self.web.status(&self.nodes[id].address).await?["role"] == "worker").then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_node_leads_within_the_lease_of_a_leader_that_is_killed() {
    let mut nodes = Nodes::start().await;
    let (first, before) = nodes.leader("").await;
    for id in ["a", "b", "c"].into_iter().filter(|id| *id != first) {
        nodes.until_works(id).await;
    }
    nodes.nodes.remove(first).expect("it leads").kill();
    let killed = Instant::now();
    let (second, after) = nodes.leader(first).await;
    let took = killed.elapsed();
    eprintln!("{second} led {took:?} after {first} was killed, with a lease of {LEASE:?}");
    assert!(after > before, "epoch {after} after {before}");
    let (told, at) = (nodes.server.url(), &nodes.nodes[second].address);
    let status = Command::new(binary()).args(["status", "--store", &told]).output().await.expect("it was built");
    let text = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(text.contains(&format!("leader   {second}  {at}")), "{text}{}", String::from_utf8_lossy(&status.stderr));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_was_stopped_for_longer_than_its_lease_says_nothing_of_its_old_term() {
    let nodes = Nodes::start().await;
    let (first, before) = nodes.leader("").await;
    // Requests that wait in the socket of the stopped process are served before any of its tasks sees the time.
    let mut waiting = Vec::new();
    for _ in 0..4 {
        waiting.push(TcpStream::connect(&nodes.nodes[first].address).await.expect("it listens"));
    }
    nodes.nodes[first].pause().await;
    for stream in &mut waiting {
        let request = b"GET /status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await.expect("the kernel takes it");
    }
    let (_, after) = nodes.leader(first).await;
    assert!(after > before, "epoch {after} after {before}");
    nodes.nodes[first].resume();
    for mut stream in waiting {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("it answers and closes");
        assert!(answer.contains("\"role\":"), "{answer}");
        assert!(!answer.contains("\"role\":\"leader\""), "it says that it leads: {answer}");
    }
    nodes.until_works(first).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_the_server_refuses_says_so_at_once_and_does_not_start() {
    let server = RedisServer::start_with(&["--requirepass", "secret"]).await.unwrap_or_else(|error| panic!("{error}"));
    let documents = TempDir::new().expect("a temporary folder");
    let url = format!("redis://:wrong@{}", server.address());
    for command in ["node", "status"] {
        let mut start = Command::new(binary());
        start.args([command, "--store", &url]);
        if command == "node" {
            start.arg("--documents").arg(documents.path()).args(["--listen", "127.0.0.1:0", "--id", "a"]);
            start.arg("--data").arg(documents.path().join("data"));
        }
        let output = start.output().await.expect("it was built");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{command}: {told}");
        assert!(told.contains("WRONGPASS") && !told.contains(":wrong@"), "{command}: {told}");
    }
}
