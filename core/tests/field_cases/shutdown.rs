//! After a request to stop, nothing is created, everything is removed, and the node ends.

use std::time::Duration;

use rolecall_core::Directory::{Coordinators, Workers};
use rolecall_core::Event;
use rolecall_core::store::{Answer, QueueReply, QueueRequest, Reply, Request};

use crate::{leads, three};
use rolecall_core::testing::{Cluster, LATENCY, Outcome, TIMEOUT};

fn has_ended(cluster: &Cluster, name: &str) -> bool {
    cluster.hosts[name].outcome == Outcome::Exited
}

// Q-B44
#[test]
fn a_create_that_was_in_flight_when_the_stop_came_ends_deleted() {
    // The stop comes at each moment of the start in turn.
    for millis in 1..30 {
        let mut cluster = Cluster::new();
        cluster.start("a");
        cluster.run(Duration::from_millis(millis));
        cluster.deliver("a", Event::Shutdown);
        cluster.until("ended", |cluster| has_ended(cluster, "a"));
        cluster.run(5 * LATENCY);
        assert!(cluster.queue().is_empty() && cluster.members(Workers).is_empty(), "at {millis} ms");
        assert!(cluster.members(Coordinators).is_empty(), "at {millis} ms");
    }
}

// Q-B44: the answer never comes
#[test]
fn a_create_whose_answer_is_lost_is_looked_for_and_deleted_before_the_end() {
    let mut cluster = Cluster::new();
    cluster.start("a");
    cluster.host("a").loses = Some(|request| matches!(request, Request::Queue(QueueRequest::Enter { .. })));
    cluster.until("entered", |cluster| !cluster.queue().is_empty());
    cluster.deliver("a", Event::Shutdown);
    cluster.until("ended", |cluster| has_ended(cluster, "a"));
    assert!(cluster.queue().is_empty());
    assert_eq!(cluster.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Delete { .. }))), 1);
}

// Q-B45
#[test]
fn a_notice_that_comes_after_the_stop_creates_nothing() {
    let mut cluster = three();
    cluster.deliver("b", Event::Shutdown);
    cluster.crash("a");
    cluster.run(3 * TIMEOUT);
    assert!(has_ended(&cluster, "b"));
    assert_eq!(cluster.hosts["b"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Enter { .. }))), 1);
    assert!(leads(&cluster, "c"));
}

// Q-B73 (the core's part: the order, and the limit over all of it)
#[test]
fn the_candidate_and_the_entries_go_before_the_session_is_closed() {
    let mut cluster = three();
    cluster.deliver("a", Event::Shutdown);
    cluster.until("ended", |cluster| has_ended(cluster, "a"));
    let text = cluster.trace.text();
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in\n{text}"));
    assert!(place("a  asked to end -> leave coordinators, stop service 1") < place("delete candidate 0"));
    assert!(place("delete candidate 0: done") < place("close the session"));
    cluster.settle_without("a");
    assert!(leads(&cluster, "b"));
}

// Q-B73, Q-B38
#[test]
fn a_store_that_does_not_answer_holds_a_shutdown_up_to_its_limit_only() {
    let mut cluster = three();
    cluster.host("a").holds = Some(|event| {
        matches!(event, Event::Answered { answer: Answer::Done(Reply::Queue(QueueReply::Deleted) | Reply::Synced), .. })
    });
    cluster.deliver("a", Event::Shutdown);
    let limit = cluster.now + cluster.node("a").config().shutdown_limit;
    cluster.until("ended", |cluster| has_ended(cluster, "a"));
    assert_eq!(cluster.now, limit);
}

// Q-B76
#[test]
fn a_leader_that_ends_stops_its_service_once() {
    let mut cluster = three();
    cluster.deliver("a", Event::Shutdown);
    cluster.deliver("a", Event::Shutdown);
    cluster.until("ended", |cluster| has_ended(cluster, "a"));
    assert_eq!(cluster.trace.text().matches("a  asked to end -> leave coordinators, stop service 1").count(), 1);
    assert_eq!(cluster.trace.text().matches("stop service 1").count(), 1);
}
