//! The design's own timelines, as text.

#[allow(dead_code, reason = "shared with other test binaries, which use other parts of it")]
#[path = "common/world/mod.rs"]
mod world;

use rolecall_core::Role;
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
    // Its predecessor goes, but it is still not the first; and then its connection flaps.
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
