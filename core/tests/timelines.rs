//! The design's own timelines, as text.

#[allow(dead_code, reason = "shared with other test binaries, which use other parts of it")]
#[path = "common/world/mod.rs"]
mod world;

use std::time::Duration;

use rolecall_core::store::{Act, Fault};
use rolecall_core::{Event, Role};
use world::{LATENCY, World};

#[test]
fn three_nodes_start() {
    let mut world = World::new();
    world.start_in_order(&["a", "b", "c"]);
    assert_eq!(world.leaders(), ["a"]);
    insta::assert_snapshot!(world.trace.text());
}

#[test]
fn the_leader_crashes_and_only_its_successor_wakes() {
    let mut world = World::new();
    world.start_in_order(&["a", "b", "c"]);
    world.fresh_trace();
    world.crash("a");
    world.until("b led", |world| world.role("b") == Role::Leader);
    world.run(20 * LATENCY);
    insta::assert_snapshot!(world.trace.text());
}

#[test]
fn a_crashed_node_comes_back_at_the_end_of_the_queue_as_a_worker() {
    let mut world = World::new();
    world.start_in_order(&["a", "b", "c"]);
    world.crash("a");
    world.until("b led", |world| world.role("b") == Role::Leader);
    world.run(20 * LATENCY);
    world.fresh_trace();
    world.start("a");
    world.until("a worked", |world| world.role("a") == Role::Worker);
    world.run(20 * LATENCY);
    assert_eq!(world.leaders(), ["b"]);
    insta::assert_snapshot!(world.trace.text());
}

#[test]
fn a_worker_that_is_told_again_that_it_is_a_worker_restarts_nothing() {
    let mut world = World::new();
    world.start_in_order(&["a", "b", "c"]);
    world.fresh_trace();
    // Its predecessor goes, but it is still not the first; then its connection flaps.
    world.crash("b");
    world.until("c watched a", |world| world.trace.text().contains("inspect candidate 0 and watch"));
    world.cut("c");
    world.run(100 * LATENCY);
    world.heal("c");
    world.run(100 * LATENCY);
    assert_eq!(world.role("c"), Role::Worker);
    assert!(!world.trace.text().contains("start worker") && !world.trace.text().contains("join workers"));
    insta::assert_snapshot!(world.trace.text());
}

/// A leader and a waiter at rest: the fewest lines that show the case.
fn two() -> World {
    let mut world = World::new();
    world.start_in_order(&["a", "b"]);
    world.settle();
    world.fresh_trace();
    world
}

#[test]
fn a_leader_that_is_cut_off_for_a_short_time_leads_on() {
    let mut world = two();
    world.cut("a");
    world.run(300 * LATENCY);
    world.heal("a");
    world.run(20 * LATENCY);
    assert_eq!(world.leaders(), ["a"]);
    insta::assert_snapshot!(world.trace.text());
}

#[test]
fn a_leader_that_is_cut_off_for_long_stops_before_another_starts() {
    let mut world = two();
    world.cut("a");
    world.until("b led", |world| world.role("b") == Role::Leader);
    world.run(20 * LATENCY);
    world.heal("a");
    world.settle();
    insta::assert_snapshot!(world.trace.text());
}

#[test]
fn an_operator_deletes_the_candidate_of_the_leader() {
    let mut world = two();
    world.delete_candidate_of("a");
    world.settle();
    insta::assert_snapshot!(world.trace.text());
}

#[test]
fn a_waiters_session_is_replaced_without_a_word() {
    let mut world = two();
    world.replace_session("b");
    world.settle();
    insta::assert_snapshot!(world.trace.text());
}

#[test]
fn a_leader_is_asked_to_end() {
    let mut world = two();
    world.deliver("a", Event::Shutdown);
    world.until("b led", |world| world.role("b") == Role::Leader);
    world.run(20 * LATENCY);
    insta::assert_snapshot!(world.trace.text());
}

#[test]
fn a_leader_whose_service_fails_three_starts_makes_room() {
    let mut world = two();
    world.host("b").failing_starts = 3;
    world.deliver("a", Event::Shutdown);
    world.until("b stood again", |world| world.leaders().is_empty() && world.role("b") == Role::Worker);
    world.until("b led", |world| world.role("b") == Role::Leader);
    insta::assert_snapshot!(world.trace.text());
}

#[test]
fn another_kind_of_client_stands_first() {
    let mut world = World::new();
    let curator = world.foreign_candidate("curator").expect("the store runs");
    world.start("a");
    world.run(50 * LATENCY);
    world.operator(Act::DeleteCandidate(curator));
    world.settle();
    insta::assert_snapshot!(world.trace.text());
}

#[test]
fn the_store_is_started_again_without_its_data() {
    let mut world = two();
    world.fault(Fault::Restart { keep_data: false });
    world.settle();
    insta::assert_snapshot!(world.trace.text());
}

#[test]
fn a_create_whose_answer_is_lost_is_looked_for_after_a_sync() {
    let mut world = two();
    world.start("c");
    world.host("c").loses = Some(|request| {
        matches!(request, rolecall_core::store::Request::Queue(rolecall_core::store::QueueRequest::Enter { .. }))
    });
    world.run(Duration::from_secs(1));
    assert_eq!(world.role("c"), Role::Worker);
    insta::assert_snapshot!(world.trace.text());
}
