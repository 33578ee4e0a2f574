//! Every reachable state of two nodes on clocks that go wrong, within stated bounds: no two gates are ever open at
//! once, and each closes by its own clock alone. The tests assert the number of states, so that a model that explores
//! less is noticed.

mod common;

use rolecall_model::{Options, Rate};

use common::explore;

/// A leader on a slow clock, which leads for longer than it knows, and a worker on a fast one.
fn cluster() -> Options {
    Options { timed: true, lean: true, settled: 2, clocks: vec![Rate::Slow, Rate::Fast], ..Options::new(2) }
}

/// Whatever the clocks do, a cluster at rest stays at rest.
#[test]
fn time_alone_changes_nothing() {
    explore(&Options { clocks: Vec::new(), lean: false, ..cluster() }, "none", 825);
}

/// A leader is cut off, knowingly or not, and comes back sooner or later.
#[test]
fn a_link_is_cut() {
    explore(&cluster(), "cut", 36_068);
}

/// A process pauses for less or more than a session timeout.
#[test]
fn a_process_pauses() {
    explore(&cluster(), "pause", 34_002);
}

/// A server answers reads and commits nothing.
#[test]
fn a_server_loses_the_others() {
    explore(&cluster(), "server", 88_783);
}

/// A server loses the others right after a late heartbeat: the process had paused, or the answer before was late. The
/// others count from what they had been told before.
#[test]
fn a_server_loses_the_others_after_a_silence() {
    let leader = Options { struck: 1, ..cluster() };
    for (faults, depth, states) in [("late,server", 36, 56_121), ("pause,server", 32, 85_123)] {
        explore(&Options { depth: Some(depth), ..leader.clone() }, faults, states);
    }
}

/// A node crashes, resigns or shuts down, or an answer to it is late or lost.
#[test]
fn a_node_or_an_answer_is_lost() {
    for (faults, states) in [("crash", 37_173), ("late", 2575), ("lost", 1067), ("resign", 1586), ("shutdown", 1906)] {
        explore(&cluster(), faults, states);
    }
}
