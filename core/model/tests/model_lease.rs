//! Every reachable state of small clusters that elect by a lease, within stated bounds: each promise holds in each state,
//! and from each a run without faults comes to rest. The tests assert the number of states, so that a model that explores
//! less is noticed.

mod common;

use rolecall_core::Family;
use rolecall_model::Options;

use common::explore;

/// Nodes on a store that keeps a lease.
fn nodes(count: u8) -> Options {
    Options { family: Family::Lease, ..Options::new(count) }
}

/// One node from its start; everything under way may linger.
#[test]
fn one_node() {
    for (faults, states) in [
        ("none", 64),
        ("crash", 1151),
        ("expiry", 276),
        ("cut", 3879),
        ("lost", 480),
        ("cut,late", 19_504),
        ("renewal", 12_802),
        ("member", 438),
        ("resign", 934),
        ("shutdown", 637),
        ("overdue", 207),
        ("haste", 239),
        ("failure", 109),
    ] {
        explore(&nodes(1), faults, states);
    }
}

/// A lease ends early that its node has not heard of yet, gives up, or has left behind.
#[test]
fn the_lease_of_one_node_lapses() {
    let ways = [("crash,lapse", 1933), ("lost,lapse", 540), ("resign,lapse", 1730), ("shutdown,lapse", 1035)];
    for (faults, states) in ways {
        explore(&nodes(1), faults, states);
    }
}

/// A leader alone, and several faults on top of one another.
#[test]
fn one_leader_with_everything() {
    let leader = Options { lean: true, settled: 1, ..nodes(1) };
    for (faults, states) in [("crash,expiry,cut,late", 129_727), ("crash,lapse,cut,late", 47_404)] {
        explore(&leader, faults, states);
    }
}

/// A leader, and a node that only looks on.
#[test]
fn an_observer() {
    let watched = Options { lean: true, observers: 1, settled: 1, ..nodes(2) };
    for (faults, states) in [("none", 32), ("crash", 3456), ("expiry", 184), ("member", 1143)] {
        explore(&watched, faults, states);
    }
}

/// Two nodes that start at the same time.
#[test]
fn two_nodes_start() {
    explore(&Options { lean: true, ..nodes(2) }, "none", 8964);
}

/// A leader, a worker and one fault.
#[test]
fn two_nodes_and_one_fault() {
    let cluster = Options { lean: true, settled: 2, ..nodes(2) };
    for (faults, states) in [
        ("crash", 18_548),
        ("expiry", 288),
        ("cut,late", 30_082),
        ("lost", 41),
        ("renewal", 36_319),
        ("member", 466),
        ("resign", 4756),
        ("shutdown", 678),
        ("overdue", 13),
        ("haste", 5),
    ] {
        explore(&cluster, faults, states);
    }
}

/// A leader and a worker, of which one is cut off or crashes, and a lease that ends early.
#[test]
fn two_nodes_and_a_lease_that_lapses() {
    let cluster = Options { lean: true, settled: 2, ..nodes(2) };
    for (faults, states) in [("cut,lapse", 24_321), ("crash,lapse", 24_033)] {
        explore(&cluster, faults, states);
    }
}

/// A third node joins two; one of three leaves.
#[test]
fn three_nodes() {
    explore(&Options { lean: true, settled: 2, ..nodes(3) }, "none", 131);
    let cluster = Options { lean: true, settled: 3, ..nodes(3) };
    for (faults, states) in [("member", 3324), ("expiry", 715), ("shutdown", 24_108)] {
        explore(&cluster, faults, states);
    }
}
