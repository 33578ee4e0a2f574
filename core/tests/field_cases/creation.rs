//! Creates whose answers are lost, late, or come after everything has changed.

use rolecall_core::store::{Answer, QueueReply, QueueRequest, Reply, Request};
use rolecall_core::{Event, Role};

use crate::leads;
use rolecall_core::testing::{Cluster, LATENCY, TIMEOUT};

fn is_enter(request: &Request) -> bool {
    matches!(request, Request::Queue(QueueRequest::Enter { .. }))
}

fn is_entered(event: &Event) -> bool {
    matches!(event, Event::Answered { answer: Answer::Done(Reply::Queue(QueueReply::Entered(_))), .. })
}

/// A cluster with a node whose answer to its create is held back.
fn entering() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.start("a");
    cluster.host("a").holds = Some(is_entered);
    cluster.until("entered", |cluster| !cluster.queue().is_empty());
    cluster.run(5 * LATENCY);
    cluster
}

// Q-B43
#[test]
fn a_create_whose_answer_was_lost_with_the_connection_is_adopted_not_repeated() {
    let mut cluster = Cluster::new();
    cluster.start("a");
    cluster.host("a").loses = Some(is_enter);
    cluster.until("entered", |cluster| !cluster.queue().is_empty());
    cluster.cut("a");
    cluster.host("a").loses = None;
    cluster.heal("a");
    cluster.settle();
    assert_eq!(cluster.hosts["a"].count(is_enter), 1);
    assert!(leads(&cluster, "a"));
}

// Q-B43, without a loss of the connection: the answer never comes
#[test]
fn a_create_that_is_not_answered_in_time_is_looked_for() {
    let mut cluster = Cluster::new();
    cluster.start("a");
    cluster.host("a").loses = Some(is_enter);
    cluster.settle();
    assert_eq!(cluster.hosts["a"].count(is_enter), 1);
}

// Q-B52, Q-B02
#[test]
fn a_late_answer_to_an_old_create_joins_the_own_candidates() {
    let mut cluster = entering();
    cluster.run(TIMEOUT);
    // By now the node has found its candidate by name; the answer changes nothing when it comes at last.
    let before = cluster.node("a").clone();
    assert_eq!(cluster.role("a"), Role::Leader);
    cluster.fresh_trace();
    cluster.release("a");
    assert_eq!(before.term().map(|(fence, _)| fence), cluster.node("a").term().map(|(fence, _)| fence));
    cluster.settle();
    assert_eq!(cluster.queue().len(), 1);
}

// Q-B02
#[test]
fn two_reports_of_the_same_connection_cause_one_reset_and_no_second_create() {
    let mut cluster = Cluster::new();
    cluster.start_in_order(&["a", "b"]);
    cluster.settle();
    let (session, _) = cluster.node("a").session().expect("it is connected");
    let writes = cluster.hosts["a"].writes();
    for _ in 0..3 {
        cluster.deliver("a", Event::SessionUp { session, timeout: TIMEOUT, entropy: 7 });
        cluster.run(LATENCY);
    }
    cluster.settle();
    assert!(leads(&cluster, "a"));
    assert_eq!(cluster.hosts["a"].writes(), writes);
}

// Q-B02: an answer to a request of an earlier connection
#[test]
fn an_answer_of_an_earlier_connection_changes_nothing() {
    let mut cluster = Cluster::new();
    cluster.start_in_order(&["a", "b"]);
    cluster.settle();
    let id = cluster.hosts["b"].newest(|request| *request == Request::Queue(QueueRequest::List));
    cluster.cut("b");
    cluster.heal("b");
    cluster.settle();
    let before = cluster.node("b").clone();
    let empty = Answer::Done(Reply::Queue(QueueReply::Candidates { candidates: Vec::new(), skipped: 0 }));
    cluster.deliver("b", Event::Answered { id, answer: empty });
    assert_eq!(*cluster.node("b"), before);
}

// Q-B22
#[test]
fn a_shutdown_between_a_create_and_its_answer_leaves_no_orphan() {
    let mut cluster = entering();
    cluster.deliver("a", Event::Shutdown);
    cluster.run(10 * LATENCY);
    cluster.release("a");
    cluster.until("ended", |cluster| cluster.hosts["a"].outcome == rolecall_core::testing::Outcome::Exited);
    cluster.run(5 * LATENCY);
    assert!(cluster.queue().is_empty());
}

// Q-B04 (the late answer that overwrote the good candidate)
#[test]
fn a_late_answer_of_an_earlier_session_does_not_replace_the_present_candidate() {
    let mut cluster = entering();
    cluster.expire("a");
    cluster.until("entered again", |cluster| cluster.hosts["a"].count(is_enter) == 2);
    cluster.run(5 * LATENCY);
    let present = cluster.candidate_of("a");
    cluster.release("a");
    cluster.settle();
    assert_eq!(cluster.candidate_of("a"), present);
}

// Q-B28: 2.6 million znodes in two hours
#[test]
fn a_store_that_shows_no_candidate_which_it_has_confirmed_is_asked_ever_more_slowly() {
    let mut cluster = Cluster::new();
    cluster.start("a");
    let begun = cluster.now;
    while cluster.now < begun + 20 * TIMEOUT {
        cluster.run(LATENCY / 2);
        if !cluster.queue().is_empty() {
            // An operator deletes it before its node can list.
            cluster.delete_candidate_of("a");
        }
    }
    let enters = cluster.hosts["a"].count(is_enter);
    assert!((3..20).contains(&enters), "{enters} candidates in {:?}", 20 * TIMEOUT);

    cluster.settle();
    assert!(leads(&cluster, "a"), "it goes on once it is left alone");
}
