//! Leadership ends by itself, is given up before its candidate, and is resigned when it cannot be served.

use std::time::Duration;

use rolecall_core::store::{Act, Answer, DirectoryReply, QueueReply, QueueRequest, Reply, Request};
use rolecall_core::{Event, Health, Leader, Role};

use crate::{leads, three};
use rolecall_core::testing::{Cluster, LATENCY, TIMEOUT};

// Q-B07
#[test]
fn a_term_is_counted_from_the_last_write_that_was_confirmed_not_from_the_loss_that_was_noticed() {
    let mut cluster = three();
    // The link dies silently: answers and pings stop, and nobody reports it.
    cluster.host("a").loses = Some(|_| true);
    let (_, until) = cluster.node("a").term().expect("it leads");
    cluster.run(LATENCY);
    cluster.cut("a");
    cluster.until("closed its gate", |cluster| cluster.node("a").term().is_none());
    assert!(cluster.now <= until + LATENCY);
    cluster.settle_without("a");
    assert!(leads(&cluster, "b"));
}

// Q-B10
#[test]
fn a_leader_that_was_paused_begins_nothing_when_it_goes_on() {
    let mut cluster = three();
    cluster.pause("a");
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
    // The gate is judged as soon as the process goes on, before it has read anything.
    cluster.resume("a");
    assert_eq!(cluster.leaders(), ["b"]);
    cluster.settle();
}

// Q-B79
#[test]
fn a_leader_that_can_reach_nobody_steps_down_by_its_own_clock() {
    let mut cluster = three();
    let (_, until) = cluster.node("a").term().expect("it leads");
    cluster.cut("a");
    cluster.run(until.since(cluster.now) + LATENCY);
    assert!(cluster.node("a").term().is_none());
    cluster.until("stopped", |cluster| cluster.role("a") != Role::Leader);
}

// Q-B08
#[test]
fn a_leader_whose_candidate_is_deleted_steps_down_and_enters_again() {
    let mut cluster = three();
    let old = cluster.delete_candidate_of("a");
    cluster.run(4 * LATENCY);
    assert!(cluster.node("a").term().is_none());
    cluster.settle();
    assert!(leads(&cluster, "b"));
    assert!(cluster.candidate_of("a") > old);
}

// Q-B03
#[test]
fn whoever_gives_up_its_candidate_has_left_leadership_first() {
    let mut cluster = three();
    cluster.host("a").holds =
        Some(|event| matches!(event, Event::Answered { answer: Answer::Done(Reply::Queue(QueueReply::Deleted)), .. }));
    cluster.deliver("a", Event::Resign);
    cluster.until("deleted", |cluster| cluster.queue().len() == 2 || cluster.queue()[0].0.sequence > 0);
    assert!(cluster.node("a").term().is_none());
    // News of its predecessor that comes late means nothing to it now.
    cluster.run(20 * LATENCY);
    assert!(cluster.leaders() != ["a"]);
    cluster.release("a");
    cluster.settle();
    assert!(leads(&cluster, "b"));
}

// Q-B38
#[test]
fn a_leader_whose_service_does_not_stop_well_gives_its_place_up_all_the_same() {
    let mut cluster = three();
    cluster.host("a").stop_takes = Duration::from_secs(7);
    cluster.deliver("a", Event::Resign);
    cluster.until("b led", |cluster| leads(cluster, "b"));
    cluster.settle();
}

// Q-B21
#[test]
fn every_refusal_leads_to_another_try_that_the_health_shows() {
    let mut cluster = Cluster::new();
    cluster.host_with_failing_starts("a", 2);
    cluster.until("failed", |cluster| cluster.node("a").health() == Health::Failing(1));
    assert!(cluster.node("a").next_deadline().is_some());
    cluster.settle();
    assert_eq!(cluster.node("a").health(), Health::Serving);
}

// Q-B21 (a session that ends while everything is under way)
#[test]
fn a_session_that_ends_at_any_moment_of_a_start_is_followed_by_another_try() {
    for millis in 1..40 {
        let mut cluster = Cluster::new();
        cluster.start("a");
        cluster.run(Duration::from_millis(millis));
        cluster.expire("a");
        cluster.settle();
        assert!(leads(&cluster, "a"));
    }
}

// Q-B19
#[test]
fn an_election_that_is_empty_again_is_entered_again() {
    let mut cluster = Cluster::new();
    cluster.start_in_order(&["a"]);
    cluster.settle();
    cluster.fault(rolecall_core::store::Fault::Restart { keep_data: false });
    cluster.settle();
    assert!(leads(&cluster, "a"));
    assert_eq!(cluster.candidate_of("a").sequence, 0);
}

// Q-B71
#[test]
fn after_a_loss_of_the_store_nobody_is_believed_to_lead_until_that_was_read_anew() {
    let mut cluster = three();
    assert!(matches!(cluster.node("c").leader(), Some(Leader::Node { id, .. }) if &*id == "a"));
    cluster.cut("c");
    assert_eq!(cluster.node("c").leader(), None);
    cluster.crash("a");
    cluster.run(2 * TIMEOUT);
    cluster.host("c").holds = Some(|event| {
        matches!(event, Event::Answered { answer: Answer::Done(Reply::Directory(DirectoryReply::Members(_))), .. })
    });
    cluster.heal("c");
    cluster.run(20 * LATENCY);
    assert_eq!(cluster.node("c").leader(), None);
    cluster.release("c");
    cluster.settle();
    assert!(matches!(cluster.node("c").leader(), Some(Leader::Node { id, .. }) if &*id == "b"));
}

// Q-B76
#[test]
fn each_start_of_a_service_is_followed_by_exactly_one_stop_however_leadership_ends() {
    for ending in 0..5 {
        let mut cluster = three();
        match ending {
            0 => cluster.deliver("a", Event::Shutdown),
            1 => cluster.deliver("a", Event::Resign),
            2 => cluster.expire("a"),
            3 => _ = cluster.delete_candidate_of("a"),
            _ => cluster.cut("a"),
        }
        // The observer judges the pairs; this shows that the end comes at all.
        cluster.until("stopped", |cluster| cluster.role("a") != Role::Leader);
        assert_eq!(cluster.trace.text().matches("stop service 1").count(), 1, "{}", cluster.trace.text());
    }
}

// Q-B01 (a leader that holds no watch on its own candidate is never told)
#[test]
fn a_leader_watches_its_own_candidate_again_after_its_data_was_rewritten() {
    let mut cluster = three();
    let own = cluster.candidate_of("a");
    cluster.operator(Act::RewriteCandidate(own));
    cluster.run(20 * LATENCY);
    assert!(leads(&cluster, "a"));
    let looks =
        cluster.hosts["a"].count(|ask| *ask == Request::Queue(QueueRequest::Inspect { candidate: own, watch: true }));
    assert_eq!(looks, 2);
}
