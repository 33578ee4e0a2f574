//! Every reachable state of small clusters, to bounds that are stated: each promise holds in each of them, and from each a run
//! without faults comes to rest. The counts of states are asserted, so that a model that explores less is noticed.

use rolecall_io::model::{Faults, Options, run};

/// Explores and compares the number of states.
fn explore(options: &Options, faults: &str, states: u64) {
    let faults: Faults = faults.parse().expect("these are faults");
    let report = run(&Options { faults, ..options.clone() }, |_| ());
    let depth = report.violated.first().map_or(report.found.depth, |violated| violated.depth as u64);
    assert!(report.exhausted, "depth {depth}: {faults}: {report}");
    // A wrong build is told by a promise that it breaks, not by having other states.
    if !cfg!(rolecall_mutants) {
        assert_eq!(report.found.unique, states, "{faults}: {report}");
    }
}

/// One node from its start; whatever is under way may linger.
#[test]
fn one_node() {
    let alone = Options::new(1);
    for (faults, states) in [
        ("none", 70),
        ("crash", 1639),
        ("expiry", 267),
        ("cut", 6971),
        ("lost", 507),
        ("cut,late", 30_282),
        ("renewal", 13_727),
        ("candidate", 6598),
        ("member", 511),
        ("resign", 2303),
        ("shutdown", 1039),
        ("overdue", 236),
        ("haste", 246),
        ("failure", 116),
    ] {
        explore(&alone, faults, states);
    }
}

/// A leader alone, and several things that go wrong one upon the other.
#[test]
fn one_leader_with_everything() {
    let leader = Options { lean: true, settled: 1, ..Options::new(1) };
    explore(&leader, "crash,expiry,cut,late", 135_743);
}

/// Two nodes that start at the same time.
#[test]
fn two_nodes_start() {
    explore(&Options { lean: true, ..Options::new(2) }, "none", 10_950);
}

/// A leader and a worker, and one thing that goes wrong.
#[test]
fn two_nodes_and_one_fault() {
    let cluster = Options { lean: true, settled: 2, ..Options::new(2) };
    for (faults, states) in [
        ("crash", 25_575),
        ("expiry", 429),
        ("cut,late", 8547),
        ("lost", 41),
        ("renewal", 75_625),
        ("member", 527),
        ("resign", 25_708),
        ("shutdown", 1360),
        ("overdue", 13),
        ("haste", 5),
    ] {
        explore(&cluster, faults, states);
    }
}

/// A third node comes to two; one of three goes.
#[test]
fn three_nodes() {
    explore(&Options { lean: true, settled: 2, ..Options::new(3) }, "none", 187);
    let cluster = Options { lean: true, settled: 3, ..Options::new(3) };
    for (faults, states) in [("cut", 22_637), ("member", 3112), ("expiry", 1986), ("shutdown", 9944)] {
        explore(&cluster, faults, states);
    }
}
