//! Nodes that are asked to end, or that may not begin.

use http::StatusCode;
use rolecall_tests::cluster::{Cluster, SESSION};
use rolecall_tests::process::{Launch, Process};
use rolecall_tests::wait::until;

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_terminated_leaves_no_entries_and_exits_with_0() {
    let mut cluster = Cluster::new(40).await;
    cluster.start_in_order(&["a", "b", "c"]).await;
    cluster.until_leads("a").await;
    let mut worker = cluster.nodes.remove("b").expect("it was started");
    worker.terminate();
    assert_eq!(worker.exit_code().await, 0);
    let workers = cluster.znodes("services/workers").await;
    assert!(workers.iter().all(|name| name.starts_with("c.")), "entries at the worker's end: {workers:?}");
    assert_eq!(cluster.znodes("election").await.len(), 2, "candidates at the worker's end");
    cluster.until_leads("a").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_is_terminated_answers_what_it_has_begun_and_hands_over_at_once() {
    let mut cluster = Cluster::new(40).await;
    cluster.start_in_order(&["a", "b", "c"]).await;
    cluster.until_leads("a").await;
    let mut leader = cluster.nodes.remove("a").expect("it was started");
    let (web, address) = (cluster.web.clone(), leader.address.clone());
    let asked = tokio::spawn(async move { web.get(&address, "/search?q=lantern&limit=1000").await });
    leader.terminate();
    assert_eq!(leader.exit_code().await, 0);
    let answer = asked.await.expect("it does not panic");
    // The request was accepted or not; an accepted one is answered in full.
    if let Some(answer) = answer.filter(|answer| answer.status == StatusCode::OK) {
        assert_eq!(answer.body["partial"], false);
    }
    assert_eq!(cluster.znodes("election").await.len(), 2, "candidates at the leader's end");
    cluster.until_leads("b").await;
    let coordinators = cluster.znodes("services/coordinators").await;
    assert!(coordinators.iter().all(|name| name.starts_with("b.")), "{coordinators:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_a_live_node_has_is_refused_and_nothing_of_that_node_is_touched() {
    let mut cluster = Cluster::new(20).await;
    cluster.start_in_order(&["a", "b"]).await;
    cluster.until_leads("a").await;
    let (election, workers) = (cluster.znodes("election").await, cluster.znodes("services/workers").await);
    let url = cluster.zookeeper.url();
    let launch = Launch {
        id: "b",
        store: &url,
        documents: cluster.documents.path(),
        address: None,
        session_timeout: SESSION,
        cluster_token: None,
    };
    let mut twin = Process::start(&launch);
    assert_eq!(twin.exit_code().await, 1);
    let log = twin.log();
    assert!(log.contains("id") && log.contains(cluster.address("b")), "the error names the other: {log}");
    assert_eq!(cluster.znodes("election").await, election);
    assert_eq!(cluster.znodes("services/workers").await, workers);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_was_killed_is_taken_back_under_its_id_once_its_old_life_is_over() {
    let mut cluster = Cluster::new(20).await;
    cluster.start_in_order(&["a", "b"]).await;
    cluster.until_leads("a").await;
    cluster.kill("b");
    cluster.start("b");
    cluster.until_ready("b").await;
    cluster.until_leads("a").await;
    until("one entry of b to be left", async || {
        let workers = cluster.znodes("services/workers").await;
        (workers.len() == 1 && workers[0].starts_with("b.")).then_some(())
    })
    .await;
}
