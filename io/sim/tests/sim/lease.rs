//! The same nodes on a store that keeps a lease, whose clock steps and whose replica may be promoted.

use core::time::Duration;

use rolecall_core::Family;
use rolecall_sim::{Fault, FaultKind, Plan, Run, Simulation};

use super::{simulation, well};

/// Every fault of a store that keeps a lease.
pub(super) fn all() -> Vec<FaultKind> {
    FaultKind::of(Family::Lease)
}

/// A minute with faults of these kinds, followed by rest.
pub(super) fn troubled(seed: u64, nodes: u8, kinds: &[FaultKind]) -> Simulation {
    let length = Duration::from_secs(60);
    on_lease().seed(seed).nodes(nodes).length(length).plan(Plan::random(seed, kinds, length))
}

fn on_lease() -> Simulation {
    simulation().election(Family::Lease)
}

/// Nodes that start one after the other, so that `a` leads at first, and this plan.
fn planned(seed: u64, plan: Plan) -> Run {
    well(&on_lease().seed(seed).start_gap(Duration::from_secs(1)).length(Duration::from_secs(40)).plan(plan))
}

#[test]
fn a_calm_cluster_finds_its_leader_and_serves() {
    let run = well(&on_lease().replayed(true));

    assert_eq!(run.terms, 1);
    assert!(run.tally["full answers"] > 100, "{:?}", run.tally);
}

#[test]
fn each_fault_alone_is_survived() {
    for kind in all() {
        let run = well(&troubled(1, 3, &[kind]));
        assert!(run.faults.keys().eq([&kind]), "{kind} came to pass: {:?}", run.faults);
    }
}

#[test]
fn mixtures_of_faults_are_survived_by_three_nodes() {
    let runs: Vec<_> = (0..16).map(|seed| well(&troubled(seed, 3, &all()))).collect();

    assert!(runs.iter().map(|run| run.terms).sum::<u32>() > 50);
}

#[test]
fn mixtures_of_faults_are_survived_by_one_node_and_by_seven() {
    (100..104).for_each(|seed| _ = well(&troubled(seed, 1, &all())));
    (200..204).for_each(|seed| _ = well(&troubled(seed, 7, &all())));
}

#[test]
fn mixtures_of_faults_are_survived_while_a_node_looks_on() {
    (400..404).for_each(|seed| _ = well(&troubled(seed, 4, &all()).observers(1)));
}

#[test]
fn what_was_recorded_comes_out_the_same_on_another_machine() {
    (300..304).for_each(|seed| _ = well(&troubled(seed, 3, &all()).replayed(true)));
}

/// What leaders can be misled by: a clock that steps, writes that are lost, and pauses.
#[test]
fn a_store_that_loses_time_and_writes_all_the_time_has_one_leader() {
    let kinds = [FaultKind::Clock, FaultKind::Lag, FaultKind::StoreRestart, FaultKind::DataLoss, FaultKind::Pause];
    let runs: Vec<_> = (500..508).map(|seed| well(&troubled(seed, 3, &kinds))).collect();

    let happened = |kind| runs.iter().filter_map(|run| run.faults.get(&kind)).sum::<u32>();
    assert!(happened(FaultKind::Clock) > 20 && happened(FaultKind::StoreRestart) > 20);
}

#[test]
fn a_clock_that_steps_by_an_hour_while_the_leader_is_stopped_lets_nobody_lead_too_early() {
    for (seed, millis) in [(0, 3_600_000), (1, -3_600_000), (2, 1_000)] {
        let pause = Fault::Pause { node: 0, length: Duration::from_secs(6) };
        let plan = Plan::calm().then(Duration::from_secs(10), pause);
        let run = planned(seed, plan.then(Duration::from_millis(10_500), Fault::Clock { millis }));
        assert_eq!((run.terms, run.faults[&FaultKind::Clock]), (2, 1), "{millis}");
    }
}

/// Nodes allow for one step forward within a lease, and for any number back.
#[test]
fn the_clock_steps_forward_no_more_often_than_nodes_allow_for() {
    let steps = [(10_000, 500), (13_900, 500), (13_910, -500), (13_920, -500), (14_100, 500)];
    let plan = steps
        .into_iter()
        .fold(Plan::calm(), |plan, (at, millis)| plan.then(Duration::from_millis(at), Fault::Clock { millis }));
    assert_eq!(planned(0, plan).faults[&FaultKind::Clock], 4);
}

/// The replica does not know of the leader's lease, so nobody leads before that would be over.
#[test]
fn a_replica_that_is_promoted_without_the_last_writes_grants_nothing_too_early() {
    for seed in 0..4 {
        let lag = Fault::Lag { server: 0, length: Duration::from_secs(20) };
        let crash = Fault::Crash { node: 0, down: Duration::from_secs(15) };
        let plan = Plan::calm().then(Duration::from_millis(1), lag).then(Duration::from_secs(10), Fault::StoreRestart);
        let simulated = on_lease().seed(seed).start_gap(Duration::from_secs(1)).length(Duration::from_secs(40));
        let run = well(&simulated.plan(plan.then(Duration::from_secs(10), crash)).traced_from(Duration::ZERO));
        assert!(run.trace.contains("its replica takes its place without the last writes"), "{}", run.trace);
        assert!(run.leaderless > Duration::from_secs(4), "{:?}", run.leaderless);
        assert_eq!(run.terms, 2);
    }
}

#[test]
fn faults_of_a_queue_do_not_happen_to_a_lease_nor_those_of_a_lease_to_a_queue() {
    let plan =
        [Fault::Cut { server: 0, length: Duration::from_secs(2), deliver: true }, Fault::DeleteCandidate { node: 0 }]
            .into_iter()
            .fold(Plan::calm(), |plan, fault| plan.then(Duration::from_secs(9), fault));
    assert!(planned(0, plan).faults.is_empty());

    let plan = Plan::calm().then(Duration::from_secs(9), Fault::Clock { millis: 500 });
    assert!(well(&simulation().plan(plan)).faults.is_empty());
}
