//! Nodes that share a secret take tasks and answers from each other only.

use std::fs;
use std::path::Path;

use http::StatusCode;
use rolecall_tests::cluster::{Cluster, SESSION};
use rolecall_tests::process::{Launch, Process};
use rolecall_tests::wait::until;
use serde_json::json;
use tempfile::TempDir;

fn start(cluster: &mut Cluster, id: &str, token: &Path) {
    let url = cluster.zookeeper.url();
    let (documents, address, session_timeout) = (cluster.documents.path(), None, SESSION);
    let launch = Launch { id, store: &url, documents, address, session_timeout, cluster_token: Some(token) };
    let node = Process::start(&launch);
    cluster.nodes.insert(id.to_owned(), node);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_takes_no_task_and_no_answer_from_one_that_does_not_know_the_secret() {
    let secrets = TempDir::new().expect("a temporary folder");
    let (ours, other) = (secrets.path().join("ours"), secrets.path().join("other"));
    fs::write(&ours, "the secret of this cluster\n").expect("a new file can be written");
    fs::write(&other, "a secret of someone else\n").expect("a new file can be written");
    let mut cluster = Cluster::new(60).await;
    start(&mut cluster, "a", &ours);
    cluster.until_ready("a").await;
    start(&mut cluster, "b", &ours);
    cluster.until_ready("b").await;

    let held = async |cluster: &Cluster, id: &str| cluster.status(id).await?["index"]["shards"].as_u64();
    until("b to hold its share", async || held(&cluster, "b").await.filter(|shards| *shards > 0)).await;
    let refused = cluster.web.post(cluster.address("b"), "/task", &json!({})).await.expect("b answers");
    assert_eq!((refused.status, &refused.body["error"]["code"]), (StatusCode::UNAUTHORIZED, &"unproven".into()));

    start(&mut cluster, "stranger", &other);
    until("a to say that the stranger does not know the secret", async || {
        let log = cluster.nodes["a"].log();
        let said = |line: &str| line.contains("stranger") && line.contains("does not prove");
        log.lines().any(said).then_some(())
    })
    .await;
    assert_eq!(
        held(&cluster, "stranger").await.unwrap_or_default(),
        0,
        "it took orders from a leader that it cannot know"
    );
    cluster.until_whole("a").await;
}
