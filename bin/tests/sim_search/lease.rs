//! The search where nodes elect by a lease.

use super::*;

fn after(nodes: u8, faults: &[Fault], length: Duration) -> Run {
    let plan = faults.iter().fold(Plan::calm(), |plan, fault| plan.then(THEN, *fault));
    well(&settled(nodes).election(Family::Lease).plan(plan).length(THEN + length))
}

/// Every fault of a store that keeps a lease for a while, and then rest.
pub(super) fn troubled(seed: u64, nodes: u8) -> Simulation {
    super::troubled(seed, nodes, &FaultKind::of(Family::Lease)).election(Family::Lease)
}

#[test]
fn in_a_calm_cluster_every_answer_is_right() {
    for nodes in [1, 3, 5] {
        let run = well(&settled(nodes).election(Family::Lease).length(THEN * 3));
        assert!(is_flawless(&run), "{nodes} nodes: {:?}", run.tally);
        assert_eq!(run.terms, 1);
    }
}

#[test]
fn a_leader_that_dies_or_is_stopped_is_replaced_and_the_answers_are_the_same() {
    for fault in [Fault::Crash { node: A, down: 15 * SECOND }, Fault::Pause { node: A, length: 10 * SECOND }] {
        let run = after(3, &[fault], 25 * SECOND);
        assert_eq!(run.terms, 2, "{fault:?}");
        assert!(count(&run, RIGHT) > 50, "{:?}", run.tally);
    }
}

#[test]
fn a_clock_that_steps_costs_no_answer() {
    for millis in [3_600_000, -3_600_000] {
        let run = after(5, &[Fault::Clock { millis }], 15 * SECOND);
        assert_eq!(run.terms, 1);
        assert!(is_flawless(&run), "{:?}", run.tally);
    }
}

/// The store cannot know who held the lease, or until when.
#[test]
fn a_store_that_restarts_or_comes_back_empty_is_led_again() {
    for fault in [Fault::StoreRestart, Fault::DataLoss] {
        let run = after(5, &[fault], 15 * SECOND);
        assert_eq!(run.terms, 2);
        assert!(count(&run, RIGHT) > 30, "{:?}", run.tally);
    }
}

#[test]
fn mixtures_of_all_faults_never_give_a_wrong_answer() {
    let mut right = 0;
    for (nodes, seed) in (0..8).map(|seed| (3, seed)).chain((100..104).map(|seed| (5, seed))) {
        let run = well(&troubled(seed, nodes));
        assert!(count(&run, RIGHT) > 10, "seed {seed}: {:?}", run.tally);
        right += count(&run, RIGHT);
    }
    assert!(right > 1_000, "{right}");
}
