//! Every reachable state of two nodes on clocks that go wrong, within stated bounds: no two gates are ever open at
//! once, and each closes by its own clock alone. The tests assert the number of states, so that a model that explores
//! less is noticed.

mod common;

use rolecall_model::{Fault, Options, Rate};

use common::explore;

/// A leader on a slow clock, which leads for longer than it knows, and a worker on a fast one.
fn cluster() -> Options {
    Options { timed: true, lean: true, settled: 2, clocks: vec![Rate::Slow, Rate::Fast], ..Options::new(2) }
}

/// Whatever the clocks do, a cluster at rest stays at rest.
#[test]
fn time_alone_changes_nothing() {
    explore(&Options { clocks: Vec::new(), lean: false, ..cluster() }, "none", 2_094);
}

/// A leader is cut off, knowingly or not, and comes back sooner or later.
#[test]
fn a_link_is_cut() {
    explore(&cluster(), "cut", 47_107);
}

/// A process pauses for less or more than a session timeout.
#[test]
fn a_process_pauses() {
    explore(&cluster(), "pause", 50_179);
}

/// A server answers reads and commits nothing.
#[test]
fn a_server_loses_the_others() {
    explore(&cluster(), "server", 121_471);
}

/// A server loses the others right after a late heartbeat: the process had paused, or the answer before was late. The
/// others count from what they had been told before.
#[test]
fn a_server_loses_the_others_after_a_silence() {
    let leader = Options { struck: 1, ..cluster() };
    for (faults, depth, states) in [("late,server", 38, 40_482), ("pause,server", 34, 63_899)] {
        explore(&Options { depth: Some(depth), ..leader.clone() }, faults, states);
    }
}

/// A waiter pauses, the leader leaves meanwhile, and the waiter's server loses the others right after the claim. The others
/// count from what they heard before the pause.
#[test]
fn a_server_loses_the_others_when_a_node_claims_after_a_pause() {
    let order = vec![(Fault::Pause, 1), (Fault::Shutdown, 0), (Fault::Server, 1)];
    let clocks = vec![Rate::Exact, Rate::Slow];
    explore(&Options { clocks, order, depth: Some(60), ..cluster() }, "pause,shutdown,server", 344_973);
}

/// A node crashes, resigns or shuts down, or an answer to it is late or lost.
#[test]
fn a_node_or_an_answer_is_lost() {
    for (faults, states) in [("crash", 44_320), ("late", 3510), ("lost", 1448), ("resign", 4182), ("shutdown", 2838)] {
        explore(&cluster(), faults, states);
    }
}
