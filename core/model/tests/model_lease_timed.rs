//! Every reachable state of two nodes that elect by a lease, on clocks that go wrong, within stated bounds: no two gates are
//! ever open at once, in true time, and each closes by its own clock alone. The store's clock is as fast as the nodes allow
//! for, so that a lease ends as soon as it can. The tests assert the number of states, so that a model that explores less is
//! noticed.

mod common;

use rolecall_core::Family;
use rolecall_model::{Options, Rate};

use common::explore;

/// A leader on a slow clock, which leads for longer than it knows, and a worker on a fast one, which waits for less.
fn cluster() -> Options {
    let clocks = vec![Rate::Slow, Rate::Fast];
    Options { family: Family::Lease, timed: true, lean: true, settled: 2, clocks, ..Options::new(2) }
}

/// Whatever the clocks do, a cluster at rest stays at rest.
#[test]
fn time_alone_changes_nothing() {
    explore(&Options { clocks: Vec::new(), lean: false, ..cluster() }, "none", 858);
}

/// A leader is cut off, knowingly or not, or a process pauses for less or more than a lease.
#[test]
fn a_node_is_not_heard() {
    for (faults, states) in [("cut", 7843), ("pause", 10_411)] {
        explore(&cluster(), faults, states);
    }
}

/// A node crashes, resigns or shuts down, or an answer to it is late or lost.
#[test]
fn a_node_or_an_answer_is_lost() {
    for (faults, states) in [("crash", 5894), ("late", 628), ("lost", 303), ("resign", 551), ("shutdown", 551)] {
        explore(&cluster(), faults, states);
    }
}

/// The store's wall clock steps by an hour, either way, while nothing else goes wrong, or one thing.
#[test]
fn the_clock_of_the_store_steps() {
    for (faults, states) in [("clock", 234), ("cut,clock", 63_664), ("pause,clock", 76_944), ("late,clock", 4309)] {
        explore(&cluster(), faults, states);
    }
}

/// The store restarts, with its data or without.
#[test]
fn the_store_restarts() {
    explore(&cluster(), "restart", 65_957);
}

/// A cluster of which only the leader and the store are struck, for as many states as a test has time.
fn struck_leader() -> Options {
    Options { struck: 1, depth: Some(40), ..cluster() }
}

/// The store restarts while its replica lags, which takes its place and lacks the last writes.
#[test]
fn a_lagging_replica_takes_the_place_of_the_store() {
    explore(&struck_leader(), "lag,restart", 156_026);
}

/// The store restarts while the leader pauses.
#[test]
fn the_store_restarts_while_a_leader_pauses() {
    explore(&struck_leader(), "pause,restart", 144_651);
}

/// The store restarts while the leader is cut off or waits for an answer, or its clock steps as well.
#[test]
fn the_store_restarts_while_something_else_is_wrong() {
    for (faults, states) in [("cut,restart", 122_672), ("late,restart", 44_607), ("clock,restart", 41_983)] {
        explore(&struck_leader(), faults, states);
    }
}

/// The leader pauses and an answer to it is late: a renewal counts from before its call.
#[test]
fn a_leader_pauses_while_it_waits() {
    explore(&Options { struck: 1, ..cluster() }, "pause,late", 108_047);
}
