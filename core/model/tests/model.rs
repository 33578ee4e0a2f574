//! Every reachable state of small clusters, within stated bounds: each promise holds in each state, and from each a run
//! without faults comes to rest. The tests assert the number of states, so that a model that explores less is noticed.

mod common;

use rolecall_model::Options;

use common::explore;

/// One node from its start; everything under way may linger.
#[test]
fn one_node() {
    let alone = Options::new(1);
    for (faults, states) in [
        ("none", 71),
        ("crash", 1645),
        ("expiry", 269),
        ("cut", 7008),
        ("lost", 690),
        ("cut,late", 30_421),
        ("renewal", 14_101),
        ("candidate", 6642),
        ("member", 520),
        ("resign", 2312),
        ("shutdown", 1045),
        ("overdue", 299),
        ("haste", 248),
        ("failure", 118),
    ] {
        explore(&alone, faults, states);
    }
}

/// A leader alone, and several faults on top of one another.
#[test]
fn one_leader_with_everything() {
    let leader = Options { lean: true, settled: 1, ..Options::new(1) };
    explore(&leader, "crash,expiry,cut,late", 136_167);
}

/// A leader, and a node that only looks on.
#[test]
fn an_observer() {
    let watched = Options { lean: true, observers: 1, settled: 1, ..Options::new(2) };
    for (faults, states) in [("none", 48), ("crash", 3814), ("expiry", 288), ("member", 1975)] {
        explore(&watched, faults, states);
    }
}

/// Two nodes that start at the same time.
#[test]
fn two_nodes_start() {
    explore(&Options { lean: true, ..Options::new(2) }, "none", 10_996);
}

/// A leader, a worker and one fault.
#[test]
fn two_nodes_and_one_fault() {
    let cluster = Options { lean: true, settled: 2, ..Options::new(2) };
    for (faults, states) in [
        ("crash", 25_728),
        ("expiry", 532),
        ("cut,late", 8658),
        ("lost", 58),
        ("renewal", 76_191),
        ("member", 555),
        ("resign", 25_725),
        ("shutdown", 1387),
        ("overdue", 20),
        ("haste", 6),
    ] {
        explore(&cluster, faults, states);
    }
}

/// A third node joins two; one of three leaves.
#[test]
fn three_nodes() {
    explore(&Options { lean: true, settled: 2, ..Options::new(3) }, "none", 218);
    let cluster = Options { lean: true, settled: 3, ..Options::new(3) };
    for (faults, states) in [("cut", 22_690), ("member", 3175), ("expiry", 2358), ("shutdown", 10_028)] {
        explore(&cluster, faults, states);
    }
}
