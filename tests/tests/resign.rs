//! `rolecall resign` on real stores, as an operator calls it: who leads next is told, nobody fails meanwhile, and what
//! is not answered in time never acts.

use std::collections::BTreeMap;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::StatusCode;
use rolecall_tests::cluster::Cluster;
use rolecall_tests::documents;
use rolecall_tests::process::{Launch, Process, Web, binary};
use rolecall_tests::redis::RedisServer;
use rolecall_tests::wait::until;
use tempfile::TempDir;
use tokio::process::Command;

async fn resign(store: &str, timeout: &str) -> Output {
    let words = ["resign", "--store", store, "--timeout", timeout];
    Command::new(binary()).args(words).output().await.expect("it was built")
}

/// What the command printed, if it succeeded.
fn done(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Searches at one node after the other and follows redirects, until it is told to end. Returns the number of answers.
async fn search_all_the_time(web: Web, nodes: Vec<String>, end: Arc<AtomicBool>) -> usize {
    let mut answers = 0;
    while !end.load(Ordering::Relaxed) {
        for node in &nodes {
            let (mut address, mut path) = (node.clone(), "/search?q=lantern".to_owned());
            for hop in 0.. {
                let answer = web.get(&address, &path).await.unwrap_or_else(|| panic!("{address} gives no answer"));
                if answer.status == StatusCode::OK {
                    assert_eq!(answer.body["partial"], false, "{}", answer.body);
                    answers += 1;
                    break;
                }
                let failed = answer.status != StatusCode::TEMPORARY_REDIRECT || hop == 10;
                assert!(!failed, "{address} answers {}, hop {hop}: {}", answer.status, answer.body);
                let location = answer.location.expect("a redirect says where to");
                match location.strip_prefix("http://") {
                    Some(rest) => {
                        let (host, target) = rest.split_once('/').expect("a path follows");
                        (address, path) = (host.to_owned(), format!("/{target}"));
                    }
                    None => path = location,
                }
            }
        }
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn leaders_on_zookeeper_resign_one_after_the_other_and_no_search_fails() {
    let mut cluster = Cluster::new(60).await;
    cluster.start_in_order(&["a", "b", "c"]).await;
    cluster.until_leads("a").await;
    let nodes: Vec<String> = ["a", "b", "c"].map(|id| cluster.address(id).to_owned()).into();
    let end = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> =
        (0..3).map(|_| tokio::spawn(search_all_the_time(Web::default(), nodes.clone(), Arc::clone(&end)))).collect();
    let (mut before, mut epochs) = ("a".to_owned(), Vec::new());
    for next in ["b", "c"] {
        let told = done(&resign(&cluster.zookeeper.url(), "30s").await);
        let expected = format!("{next} at {} leads with epoch ", cluster.address(next));
        assert!(told.starts_with(&expected) && told.contains(&format!(", after {before} at ")), "{told}");
        let status = cluster.status(next).await.expect("it answers");
        assert_eq!(status["role"], "leader");
        let epoch = status["epoch"].as_u64().expect("it leads");
        assert!(told.starts_with(&format!("{expected}{epoch} ")), "{told} {epoch}");
        epochs.push(epoch);
        // Both that do not lead work before the next one resigns.
        cluster.until_leads(next).await;
        next.clone_into(&mut before);
    }
    assert!(epochs.is_sorted_by(|one, other| one < other), "{epochs:?}");
    end.store(true, Ordering::Relaxed);
    for client in clients {
        assert!(client.await.expect("no search fails") > 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wish_that_a_stopped_leader_did_not_answer_in_time_is_withdrawn_and_never_acts() {
    let mut cluster = Cluster::new(20).await;
    let url = cluster.zookeeper.url();
    for id in ["a", "b"] {
        cluster.start_at(id, &url, "20s");
        cluster.until_ready(id).await;
    }
    cluster.until_leads("a").await;
    cluster.nodes["a"].pause().await;
    let output = resign(&url, "1s").await;
    cluster.nodes["a"].resume();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("no answer within 1 s; the wish is withdrawn; a at "), "{told}");
    let (wish, _) = cluster.zookeeper.observer().await.get_data("/rolecall/default/wish").await.expect("it stays");
    assert!(String::from_utf8_lossy(&wish).contains(r#""verdict":"withdrawn""#), "{wish:?}");

    // It goes on, and the next wish is heard.
    until("a to answer", async || (cluster.status("a").await?["role"] == "leader").then_some(())).await;
    assert!(done(&resign(&url, "30s").await).starts_with("b at "));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_holder_of_a_lease_on_redis_resigns() {
    let server = RedisServer::start().await.unwrap_or_else(|error| panic!("{error}"));
    let documents = TempDir::new().expect("a temporary folder");
    documents::generate(documents.path(), 20).expect("a new folder can be written");
    let (url, web, mut nodes) = (server.url(), Web::default(), BTreeMap::new());
    for id in ["a", "b"] {
        let (documents, session_timeout) = (documents.path(), "4s");
        nodes.insert(
            id,
            Process::start(&Launch { id, store: &url, documents, address: None, session_timeout, cluster_token: None }),
        );
    }
    let (first, epoch) = until("a leader and a worker", async || {
        let (a, b) = (web.status(&nodes["a"].address).await?, web.status(&nodes["b"].address).await?);
        match (a["role"].as_str()?, b["role"].as_str()?) {
            ("leader", "worker") => Some(("a", a["epoch"].as_u64()?)),
            ("worker", "leader") => Some(("b", b["epoch"].as_u64()?)),
            _ => None,
        }
    })
    .await;
    let second = if first == "a" { "b" } else { "a" };

    let told = done(&resign(&url, "30s").await);

    let expected = format!("{second} at {} leads with epoch {} ", nodes[second].address, epoch + 1);
    assert!(told.starts_with(&expected) && told.contains(&format!(", after {first} at ")), "{told}");
    // Nobody leads: the command says so, and leaves nothing behind.
    for node in nodes.values_mut() {
        node.kill();
    }
    until("nobody to lead", async || {
        let output = resign(&url, "1s").await;
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{told}");
        told.contains("nobody has led for 1 s").then_some(())
    })
    .await;
}
