//! Processes that are killed and come back: the cluster heals by itself, and the answers stay the same.

use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use http::StatusCode;
use rolecall_tests::cluster::Cluster;
use rolecall_tests::process::Web;
use rolecall_tests::wait::until;
use serde_json::Value;

/// Between two rounds of questions.
const PAUSE: Duration = Duration::from_millis(500);

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_survives_its_leaders_one_after_the_other_and_takes_a_killed_node_back() {
    let mut cluster = Cluster::new(200).await;
    cluster.start_in_order(&["a", "b", "c"]).await;
    cluster.until_leads("a").await;
    let answers = cluster.answers("a").await;
    let first_epoch = cluster.status("a").await.expect("it answers")["epoch"].as_u64();

    cluster.kill("a");
    cluster.until_leads("b").await;
    assert_eq!(cluster.answers("b").await, answers);
    assert!(cluster.status("b").await.expect("it answers")["epoch"].as_u64() > first_epoch);

    cluster.kill("b");
    cluster.until_leads("c").await;
    assert_eq!(cluster.answers("c").await, answers);

    cluster.start("a");
    cluster.until_ready("a").await;
    cluster.until_leads("c").await;
    let status = cluster.status("a").await.expect("it answers");
    assert_eq!(status["role"], "worker", "a node that comes back stands at the end of the queue: {status}");
    assert_eq!(cluster.answers("c").await, answers);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_queries_give_the_same_hits_and_scores_with_one_two_and_five_nodes() {
    let mut cluster = Cluster::new(300).await;
    cluster.start_in_order(&["a"]).await;
    cluster.until_leads("a").await;
    let answers = cluster.answers("a").await;
    cluster.start_in_order(&["b"]).await;
    cluster.until_leads("a").await;
    assert_eq!(cluster.answers("a").await, answers, "with two nodes");
    cluster.start_in_order(&["c", "d", "e"]).await;
    cluster.until_leads("a").await;
    assert_eq!(cluster.answers("a").await, answers, "with five nodes");
}

/// The death of a leader is one of the three. The first node held everything while it was alone; the deaths come after it has
/// let go of that, so nobody has more than its share to help out with.
#[tokio::test(flavor = "multi_thread")]
async fn three_of_seven_nodes_die_for_good_and_every_answer_becomes_whole_again_and_stays_so() {
    let mut cluster = Cluster::new(200).await;
    cluster.start_in_order(&["a", "b", "c", "d", "e", "f", "g"]).await;
    cluster.until_leads("a").await;
    cluster.until_settled("a").await;
    let answers = cluster.answers("a").await;

    for (dies, leads) in [("b", "a"), ("a", "c"), ("d", "c")] {
        cluster.kill(dies);
        cluster.until_leads(leads).await;
        cluster.until_all_shards_are_whole(leads).await;
        assert_eq!(cluster.answers(leads).await, answers, "after the death of {dies}");
    }

    let asked = AtomicUsize::new(0);
    let asking = async {
        loop {
            assert_eq!(cluster.answers("c").await, answers, "long after the last death");
            asked.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::select! {
        never = asking => never,
        () = cluster.until_settled("c") => {}
    }
    assert!(asked.into_inner() > 0, "answers were compared until every node held its share and nothing else");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_is_wrong_while_a_worker_is_killed_and_comes_back() {
    let mut cluster = Cluster::new(200).await;
    cluster.start_in_order(&["a", "b", "c", "d"]).await;
    cluster.until_leads("a").await;
    let path = "/search?q=lantern%20zephyr&limit=100";
    let expected = cluster.web.get(cluster.address("a"), path).await.expect("the leader answers").body;

    let (stop, whole) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let asked = ask_again_and_again(cluster.address("a").to_owned(), path, Arc::clone(&stop), Arc::clone(&whole));
    let stream = tokio::spawn(asked);
    cluster.kill("c");
    until("the leader to miss the worker", async || {
        let status = cluster.status("a").await?;
        (status["workers"].as_array()?.len() == 2).then_some(())
    })
    .await;
    cluster.start("c");
    cluster.until_ready("c").await;
    cluster.until_leads("a").await;
    let before = whole.load(Ordering::Relaxed);
    until("answers that are whole again", async || (whole.load(Ordering::Relaxed) > before + 5).then_some(())).await;
    stop.store(true, Ordering::Relaxed);
    let answers = stream.await.expect("the stream does not panic");

    for answer in &answers {
        if answer["partial"] == false {
            assert_eq!(answer["hits"], expected["hits"]);
            assert_eq!(answer["total"], expected["total"]);
        } else {
            assert!(answer["missing"].as_u64() > Some(0), "a partial answer says how many are missing: {answer}");
            assert!(answer["total"].as_u64() <= expected["total"].as_u64());
        }
    }
}

async fn ask_again_and_again(
    address: String,
    path: &'static str,
    stop: Arc<AtomicBool>,
    whole: Arc<AtomicUsize>,
) -> Vec<Value> {
    let web = Web::default();
    let mut answers = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let answer = web.get(&address, path).await.expect("the leader lives and answers");
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        if answer.body["partial"] == false {
            whole.fetch_add(1, Ordering::Relaxed);
        }
        answers.push(answer.body);
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_that_change_appear_or_go_are_found_so_without_a_restart() {
    let mut cluster = Cluster::new(60).await;
    cluster.start_in_order(&["a", "b", "c"]).await;
    cluster.until_leads("a").await;
    let folder = cluster.documents.path().to_owned();
    std::fs::write(folder.join("new.md"), "# A new one\n\nIt tells of a xylophone.")
        .expect("the folder can be written");
    let found = async |title: &str| {
        let answer = cluster.web.get(cluster.address("a"), "/search?q=xylophone").await?;
        let hits = answer.body["hits"].as_array()?.clone();
        (hits.len() == 1 && hits[0]["document"] == "new.md" && hits[0]["title"] == title).then_some(())
    };
    until("a new document to be found", async || found("A new one").await).await;
    std::fs::write(folder.join("new.md"), "# Another title\n\nA xylophone still.").expect("the folder can be written");
    until("its change to be found", async || found("Another title").await).await;
    std::fs::remove_file(folder.join("new.md")).expect("it is there");
    until("it to be gone", async || {
        let answer = cluster.web.get(cluster.address("a"), "/search?q=xylophone").await?;
        (answer.body["total"] == 0).then_some(())
    })
    .await;
}
