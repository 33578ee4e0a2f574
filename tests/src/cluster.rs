//! A cluster of processes on a real ZooKeeper, over generated documents.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{Launch, Process, Web};
use crate::wait::until;
use crate::zookeeper::ZooKeeperServer;

/// Queries of several shapes, for which the generated documents have hits.
pub const QUERIES: [&str; 6] = [
    "lantern",
    "harbour%20zephyr",
    "willow%20AND%20timber",
    "%22copper%20winter%22",
    "timber%20NOT%20lantern",
    "velvet%20quarry%20saddle",
];

/// Session timeout of the nodes, unless a test needs another.
pub const SESSION: &str = "1s";

/// ZooKeeper, a folder of documents, and the running nodes.
#[derive(Debug)]
pub struct Cluster {
    /// The store.
    pub zookeeper: ZooKeeperServer,
    /// The folder of documents.
    pub documents: TempDir,
    /// The running nodes, by id.
    pub nodes: BTreeMap<String, Process>,
    /// HTTP client of the tests.
    pub web: Web,
    count: u32,
}

impl Cluster {
    /// A server and `count` documents, without nodes.
    ///
    /// # Panics
    /// If ZooKeeper does not start; the message says how to install it.
    pub async fn new(count: u32) -> Self {
        let zookeeper = ZooKeeperServer::start().await.unwrap_or_else(|error| panic!("{error}"));
        let documents = TempDir::new().expect("a temporary folder");
        crate::documents::generate(documents.path(), count).expect("a new folder can be written");
        Self { zookeeper, documents, nodes: BTreeMap::new(), web: Web::default(), count }
    }

    /// Starts a node that connects straight to the server.
    pub fn start(&mut self, id: &str) {
        let url = self.zookeeper.url();
        self.start_at(id, &url, SESSION);
    }

    /// Starts a node on the store at `url`, with this session timeout.
    pub fn start_at(&mut self, id: &str, url: &str, session_timeout: &str) {
        let launch = Launch {
            id,
            store: url,
            documents: self.documents.path(),
            address: None,
            session_timeout,
            cluster_token: None,
        };
        self.nodes.insert(id.to_owned(), Process::start(&launch));
    }

    /// Starts nodes one after the other, each once the one before is ready. So they stand in the queue in this order.
    pub async fn start_in_order(&mut self, ids: &[&str]) {
        for id in ids {
            self.start(id);
            self.until_ready(id).await;
        }
    }

    /// Address of a node.
    ///
    /// # Panics
    /// If the node does not run.
    #[must_use]
    pub fn address(&self, id: &str) -> &str {
        &self.nodes[id].address
    }

    /// Waits until a node reports that it is ready.
    pub async fn until_ready(&self, id: &str) {
        until(&format!("{id} to be ready"), async || {
            let answer = self.web.get(self.address(id), "/health/ready").await?;
            (answer.status == StatusCode::OK).then_some(())
        })
        .await;
    }

    /// Waits until a node leads, has all its workers, and finds all documents.
    pub async fn until_leads(&self, id: &str) {
        until(&format!("{id} to lead with all its workers"), async || {
            let status = self.web.status(self.address(id)).await?;
            let workers = status["workers"].as_array().map(Vec::len)?;
            (status["role"] == "leader" && workers + 1 == self.nodes.len()).then_some(())
        })
        .await;
        self.until_whole(id).await;
    }

    /// Waits until an answer of a node is whole.
    pub async fn until_whole(&self, id: &str) {
        until(&format!("a whole answer from {id}"), async || {
            let answer = self.web.get(self.address(id), "/search?q=lantern%20harbour%20river&limit=1000").await?;
            let whole = answer.status == StatusCode::OK && answer.body["partial"] == false;
            (whole && answer.body["total"].as_u64()? > u64::from(self.count / 2)).then_some(())
        })
        .await;
    }

    /// Waits until the leader knows that every shard is on as many nodes as it must be.
    pub async fn until_all_shards_are_whole(&self, leader: &str) {
        until(&format!("{leader} to know that all shards are whole"), async || {
            self.all_shards_are_whole(leader).await.then_some(())
        })
        .await;
    }

    async fn all_shards_are_whole(&self, leader: &str) -> bool {
        let Some(status) = self.status(leader).await else { return false };
        let shares = &status["shares"];
        shares["whole"].as_u64().is_some_and(|whole| Some(whole) == shares["shards"].as_u64())
    }

    /// Waits until all shards are whole and every node holds its share and nothing else. That takes a minute after shards have
    /// moved: nodes keep what they no longer have to hold for so long.
    pub async fn until_settled(&self, leader: &str) {
        until("every node to hold its share and nothing else", async || {
            for id in self.nodes.keys() {
                let status = self.status(id).await?;
                let index = &status["index"];
                if !index.is_object() || index["shards"] != index["wanted"] {
                    return None;
                }
            }
            self.all_shards_are_whole(leader).await.then_some(())
        })
        .await;
    }

    /// A node's answers to each of [`QUERIES`]: hits with scores, and totals.
    ///
    /// # Panics
    /// If an answer is missing or partial.
    pub async fn answers(&self, id: &str) -> Vec<(Value, Value)> {
        let mut answers = Vec::new();
        for query in QUERIES {
            let path = format!("/search?q={query}&limit=50");
            let answer = self.web.get(self.address(id), &path).await.expect("the leader answers");
            assert_eq!(answer.status, StatusCode::OK, "{query}: {}", answer.body);
            assert_eq!(answer.body["partial"], false, "{query}: {}", answer.body);
            assert!(answer.body["total"].as_u64() > Some(0), "{query} finds nothing: {}", answer.body);
            answers.push((answer.body["hits"].clone(), answer.body["total"].clone()));
        }
        answers
    }

    /// The status of a node, if it answers.
    pub async fn status(&self, id: &str) -> Option<Value> {
        self.web.status(self.address(id)).await
    }

    /// `kill -9`.
    ///
    /// # Panics
    /// If the node does not run.
    pub fn kill(&mut self, id: &str) {
        self.nodes.remove(id).expect("it was started").kill();
    }

    /// Names under a folder of the cluster's znodes, sorted.
    pub async fn znodes(&self, folder: &str) -> Vec<String> {
        let observer = self.zookeeper.observer().await;
        let mut names = observer.list_children(&format!("/rolecall/default/{folder}")).await.unwrap_or_default();
        names.sort();
        names
    }
}
