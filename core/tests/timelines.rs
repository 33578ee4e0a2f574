//! The design's own timelines, as text.

use std::time::Duration;

use rolecall_core::store::{Act, Aim, Fault, Wish};
use rolecall_core::testing::{Cluster, LATENCY};
use rolecall_core::{Event, Role};

#[test]
fn three_nodes_start() {
    let mut cluster = Cluster::new();
    cluster.start_in_order(&["a", "b", "c"]);
    assert_eq!(cluster.leaders(), ["a"]);
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn the_leader_crashes_and_only_its_successor_wakes() {
    let mut cluster = Cluster::new();
    cluster.start_in_order(&["a", "b", "c"]);
    cluster.fresh_trace();
    cluster.crash("a");
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
    cluster.run(20 * LATENCY);
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn a_crashed_node_comes_back_at_the_end_of_the_queue_as_a_worker() {
    let mut cluster = Cluster::new();
    cluster.start_in_order(&["a", "b", "c"]);
    cluster.crash("a");
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
    cluster.run(20 * LATENCY);
    cluster.fresh_trace();
    cluster.start("a");
    cluster.until("a worked", |cluster| cluster.role("a") == Role::Worker);
    cluster.run(20 * LATENCY);
    assert_eq!(cluster.leaders(), ["b"]);
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn a_worker_that_is_told_again_that_it_is_a_worker_restarts_nothing() {
    let mut cluster = Cluster::new();
    cluster.start_in_order(&["a", "b", "c"]);
    cluster.fresh_trace();
    // Its predecessor goes, but it is still not the first; then its connection flaps.
    cluster.crash("b");
    cluster.until("c watched a", |cluster| cluster.trace.text().contains("inspect candidate 0 and watch"));
    cluster.cut("c");
    cluster.run(100 * LATENCY);
    cluster.heal("c");
    cluster.run(100 * LATENCY);
    assert_eq!(cluster.role("c"), Role::Worker);
    assert!(!cluster.trace.text().contains("start worker") && !cluster.trace.text().contains("join workers"));
    insta::assert_snapshot!(cluster.trace.text());
}

/// A leader and a waiter at rest: the fewest lines that show the case.
fn two() -> Cluster {
    at_rest(Cluster::new())
}

/// The same on a store that keeps a lease.
fn two_on_a_lease() -> Cluster {
    at_rest(Cluster::with_lease())
}

fn at_rest(mut cluster: Cluster) -> Cluster {
    cluster.start_in_order(&["a", "b"]);
    cluster.settle();
    cluster.fresh_trace();
    cluster
}

#[test]
fn a_leader_that_is_cut_off_for_a_short_time_leads_on() {
    let mut cluster = two();
    cluster.cut("a");
    cluster.run(300 * LATENCY);
    cluster.heal("a");
    cluster.run(20 * LATENCY);
    assert_eq!(cluster.leaders(), ["a"]);
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn a_leader_that_is_cut_off_for_long_stops_before_another_starts() {
    let mut cluster = two();
    cluster.cut("a");
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
    cluster.run(20 * LATENCY);
    cluster.heal("a");
    cluster.settle();
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn an_operator_deletes_the_candidate_of_the_leader() {
    let mut cluster = two();
    cluster.delete_candidate_of("a");
    cluster.settle();
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn a_waiters_session_is_replaced_without_a_word() {
    let mut cluster = two();
    cluster.replace_session("b");
    cluster.settle();
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn a_leader_is_asked_to_end() {
    let mut cluster = two();
    cluster.deliver("a", Event::Shutdown);
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
    cluster.run(20 * LATENCY);
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn a_leader_whose_service_fails_three_starts_makes_room() {
    let mut cluster = two();
    cluster.host("b").failing_starts = 3;
    cluster.deliver("a", Event::Shutdown);
    cluster.until("b stood again", |cluster| cluster.leaders().is_empty() && cluster.role("b") == Role::Worker);
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn another_kind_of_client_stands_first() {
    let mut cluster = Cluster::new();
    let curator = cluster.foreign_candidate("curator").expect("the store runs");
    cluster.start("a");
    cluster.run(50 * LATENCY);
    cluster.operator(Act::DeleteCandidate(curator));
    cluster.settle();
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn the_store_is_started_again_without_its_data() {
    let mut cluster = two();
    cluster.fault(Fault::Restart { keep_data: false });
    cluster.settle();
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn a_create_whose_answer_is_lost_is_looked_for_after_a_sync() {
    let mut cluster = two();
    cluster.start("c");
    cluster.host("c").loses = Some(|request| {
        matches!(request, rolecall_core::store::Request::Queue(rolecall_core::store::QueueRequest::Enter { .. }))
    });
    cluster.run(Duration::from_secs(1));
    assert_eq!(cluster.role("c"), Role::Worker);
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn two_nodes_start_and_the_first_takes_the_lease() {
    let mut cluster = Cluster::with_lease();
    cluster.start_in_order(&["a", "b"]);
    assert_eq!(cluster.leaders(), ["a"]);
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn the_holder_of_a_lease_crashes_and_a_waiter_looks_at_its_end() {
    let mut cluster = two_on_a_lease();
    cluster.crash("a");
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
    cluster.run(20 * LATENCY);
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn the_holder_of_a_lease_is_asked_to_end_and_wakes_the_waiter() {
    let mut cluster = two_on_a_lease();
    cluster.deliver("a", Event::Shutdown);
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
    cluster.run(20 * LATENCY);
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn the_server_that_keeps_the_lease_restarts_and_both_wait() {
    let mut cluster = two_on_a_lease();
    cluster.fault(Fault::Restart { keep_data: true });
    cluster.until("a stopped", |cluster| cluster.leaders().is_empty());
    cluster.settle();
    insta::assert_snapshot!(cluster.trace.text());
}

/// An operator wishes that the leader of the present term resigns.
fn wish_that_a_resigns(cluster: &mut Cluster) {
    let (term, _) = cluster.node("a").term().expect("it leads");
    let wish = Wish { id: 1, aim: Aim::Resign, term, author: "an operator".into(), verdict: None };
    cluster.operator(Act::Wish(Box::new(wish)));
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
    cluster.run(20 * LATENCY);
}

#[test]
fn an_operator_wishes_that_the_leader_resigns() {
    let mut cluster = two();
    wish_that_a_resigns(&mut cluster);
    insta::assert_snapshot!(cluster.trace.text());
}

#[test]
fn an_operator_wishes_that_the_holder_of_a_lease_resigns() {
    let mut cluster = two_on_a_lease();
    wish_that_a_resigns(&mut cluster);
    insta::assert_snapshot!(cluster.trace.text());
}
