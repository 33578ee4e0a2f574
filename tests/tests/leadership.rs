//! Leaders that are stopped or cut off: no answer of an old term, no flapping, no two leaders.

use std::collections::BTreeMap;

use http::StatusCode;
use rolecall_tests::cluster::{Cluster, SESSION};
use rolecall_tests::proxy::Proxy;
use rolecall_tests::wait::until;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zookeeper_client::{Acls, CreateMode};

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_was_stopped_for_longer_than_its_session_answers_nothing_of_its_old_term() {
    let mut cluster = Cluster::new(60).await;
    cluster.start_in_order(&["a", "b", "c"]).await;
    cluster.until_leads("a").await;
    let old = cluster.status("a").await.expect("it answers");

    // Requests that wait in the socket of the stopped process are served before any of its tasks sees the time.
    let mut waiting = Vec::new();
    for _ in 0..4 {
        waiting.push(TcpStream::connect(cluster.address("a")).await.expect("it listens"));
    }
    cluster.nodes["a"].pause().await;
    for (number, stream) in waiting.iter_mut().enumerate() {
        let path = if number % 2 == 0 { "/search?q=lantern" } else { "/status" };
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("the kernel takes it");
    }
    until("b to lead", async || (cluster.status("b").await?["role"] == "leader").then_some(())).await;
    cluster.nodes["a"].resume();
    for mut stream in waiting {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("it answers and closes");
        assert!(!answer.contains("\"hits\""), "a search of the old term was answered: {answer}");
        assert!(!answer.contains("\"role\":\"leader\""), "it says that it leads: {answer}");
    }

    until("c to have seen the new term", async || {
        let seen = cluster.status("c").await?["epoch"].as_u64()?;
        (seen > old["epoch"].as_u64()?).then_some(())
    })
    .await;
    refuses_stale_epoch(&cluster, "c", &old).await;
    until("a to work", async || (cluster.status("a").await?["role"] == "worker").then_some(())).await;
    cluster.until_leads("b").await;
}

/// A task that is well-formed, apart from the term of `old`.
async fn refuses_stale_epoch(cluster: &Cluster, id: &str, old: &Value) {
    let incarnation = old["incarnation"].as_str().expect("a leader's status has one");
    let incarnation = u64::from_str_radix(incarnation, 16).expect("it is hexadecimal");
    let task = json!({
        "fence": { "incarnation": incarnation, "epoch": old["epoch"] },
        "settings": { "shards": 64, "ranking": "bm25" },
        "task": { "statistics": { "shards": [0], "terms": ["lantern"] } },
    });
    let answer = cluster.web.post(cluster.address(id), "/task", &task).await.expect("it answers");
    assert_eq!((answer.status, &answer.body["error"]["code"]), (StatusCode::CONFLICT, &json!("stale_epoch")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_that_is_shorter_than_the_validity_changes_nothing() {
    let mut cluster = Cluster::new(40).await;
    let proxy = Proxy::start(cluster.zookeeper.address()).await.expect("a free port");
    // A long session, so that the cut is short by comparison even on a slow machine.
    cluster.start_at("a", &format!("zookeeper://{}", proxy.address()), "20s");
    cluster.until_ready("a").await;
    cluster.start_in_order(&["b", "c"]).await;
    cluster.until_leads("a").await;
    let before = (state(&cluster).await, cluster.status("a").await.expect("it answers"));

    proxy.reset();
    proxy.refuse();
    until("a to notice", async || {
        let status = cluster.status("a").await?;
        assert_eq!(status["role"], "leader", "{status}");
        (status["store"]["state"] != "connected").then_some(())
    })
    .await;
    proxy.heal();
    until("a to be connected again", async || {
        let status = cluster.status("a").await?;
        assert_eq!(status["role"], "leader", "{status}");
        (status["store"]["state"] == "connected").then_some(())
    })
    .await;
    cluster.until_leads("a").await;
    let after = (state(&cluster).await, cluster.status("a").await.expect("it answers"));
    assert_eq!(before.0, after.0, "no znode but the heartbeat's was written");
    assert_eq!(before.1["epoch"], after.1["epoch"]);
    assert_eq!(before.1["since"], after.1["since"]);
}

/// Revisions at which everything in the cluster was created and last written, apart from the heartbeat.
async fn state(cluster: &Cluster) -> BTreeMap<String, (i64, i64)> {
    let observer = cluster.zookeeper.observer().await;
    let mut state = BTreeMap::new();
    for folder in ["election", "services/workers", "services/coordinators"] {
        for name in cluster.znodes(folder).await {
            let path = format!("/rolecall/default/{folder}/{name}");
            if let Some(stat) = observer.check_stat(&path).await.expect("it can be read") {
                state.insert(path, (stat.czxid, stat.mzxid));
            }
        }
    }
    let term = observer.check_stat("/rolecall/default/term").await.expect("it can be read").expect("there is one");
    state.insert("term".into(), (term.czxid, term.mzxid));
    state
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_is_cut_off_for_longer_has_stopped_before_the_next_one_starts() {
    let mut cluster = Cluster::new(40).await;
    let proxy = Proxy::start(cluster.zookeeper.address()).await.expect("a free port");
    cluster.start_at("a", &format!("zookeeper://{}", proxy.address()), SESSION);
    cluster.until_ready("a").await;
    cluster.start_in_order(&["b", "c"]).await;
    cluster.until_leads("a").await;
    let old = cluster.status("a").await.expect("it answers")["epoch"].as_u64();

    proxy.cut();
    until("b to lead", async || {
        // In this order, a leader that had not stopped before the next one started would be seen.
        let b = cluster.status("b").await?;
        let a = cluster.status("a").await?;
        if b["role"] == "leader" {
            assert_ne!(a["role"], "leader", "two leaders: {a} {b}");
            assert!(b["epoch"].as_u64() > old);
            return Some(());
        }
        None
    })
    .await;
    let answer = cluster.web.get(cluster.address("a"), "/search?q=lantern").await.expect("it answers");
    assert_ne!(answer.status, StatusCode::OK, "{}", answer.body);
    proxy.heal();
    cluster.until_leads("b").await;
    until("a to work", async || (cluster.status("a").await?["role"] == "worker").then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_candidate_that_no_session_owns_keeps_nobody_from_leading() {
    let mut cluster = Cluster::new(20).await;
    cluster.start_in_order(&["a", "b", "c"]).await;
    cluster.until_leads("a").await;
    let leftover = "/rolecall/default/election/_c_0123abcd-1bb2-4f1b-bd09-00ec4e8dac2d-latch-0000000000";
    let persistent = CreateMode::Persistent.with_acls(Acls::anyone_all());
    cluster.zookeeper.observer().await.create(leftover, b"", &persistent).await.expect("it can be created");

    cluster.kill("a");
    cluster.until_leads("b").await;
    until("b and c to count the leftover", async || {
        for id in ["b", "c"] {
            let status = cluster.status(id).await?;
            if status["skipped"]["candidates"] != 1 || status["leader"]["id"] != "b" {
                return None;
            }
        }
        Some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_was_down_and_one_that_lost_its_data_are_both_survived() {
    let mut cluster = Cluster::new(40).await;
    cluster.start_in_order(&["a", "b", "c"]).await;
    cluster.until_leads("a").await;
    let answers = cluster.answers("a").await;
    let incarnation = cluster.status("a").await.expect("it answers")["incarnation"].clone();

    cluster.zookeeper.kill();
    cluster.zookeeper.restart().await.expect("it starts again");
    let leader = until_somebody_leads(&cluster).await;
    assert_eq!(cluster.answers(&leader).await, answers);

    cluster.zookeeper.kill();
    cluster.zookeeper.wipe().expect("its folder can be emptied");
    cluster.zookeeper.restart().await.expect("it starts again");
    until("a leader in the new life of the store", async || {
        for id in cluster.nodes.keys() {
            let status = cluster.status(id).await?;
            if status["role"] == "leader" && status["incarnation"] != incarnation {
                return Some(());
            }
        }
        None
    })
    .await;
    let leader = until_somebody_leads(&cluster).await;
    assert_eq!(cluster.answers(&leader).await, answers);
}

async fn until_somebody_leads(cluster: &Cluster) -> String {
    let leader = until("somebody to lead all others", async || {
        for id in cluster.nodes.keys() {
            let status = cluster.status(id).await?;
            if status["role"] == "leader" && status["workers"].as_array()?.len() + 1 == cluster.nodes.len() {
                return Some(id.clone());
            }
        }
        None
    })
    .await;
    cluster.until_whole(&leader).await;
    leader
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_sends_searches_to_the_leader() {
    let mut cluster = Cluster::new(20).await;
    cluster.start_in_order(&["a", "b"]).await;
    cluster.until_leads("a").await;
    let answer = cluster.web.get(cluster.address("b"), "/search?q=lantern&limit=3").await.expect("it answers");
    assert_eq!(answer.status, StatusCode::TEMPORARY_REDIRECT);
    let expected = format!("http://{}/search?q=lantern&limit=3", cluster.address("a"));
    assert_eq!(answer.location.as_deref(), Some(expected.as_str()));
}
