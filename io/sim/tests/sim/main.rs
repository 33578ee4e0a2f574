//! Whole nodes on simulated machines, under the faults of networks, clocks and operators: on a store that keeps a queue, and
//! in `lease` on one that keeps a lease.

mod lease;

use core::time::Duration;
use std::fs;
use std::process::Command;

use rolecall_core::Family;
use rolecall_sim::{FaultKind, Plan, Run, Simulation, adder};

fn simulation() -> Simulation {
    Simulation::new(adder::node).visitor(adder::visit)
}

/// Every fault of a store that keeps a queue.
fn all() -> Vec<FaultKind> {
    FaultKind::of(Family::Queue)
}

/// A minute with faults of these kinds, followed by rest.
fn troubled(seed: u64, nodes: u8, kinds: &[FaultKind]) -> Simulation {
    let length = Duration::from_secs(60);
    simulation().seed(seed).nodes(nodes).length(length).plan(Plan::random(seed, kinds, length))
}

/// Runs the simulation and panics with the trace if a promise is broken.
fn well(simulation: &Simulation) -> Run {
    let run = simulation.run();
    if let Some(finding) = &run.finding {
        let trace = simulation.clone().traced_from(Duration::ZERO).run().trace;
        panic!("seed {}: {finding}\n{trace}", run.seed);
    }
    run
}

#[test]
fn a_calm_cluster_finds_its_leader_and_serves() {
    let run = well(&simulation().replayed(true));

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
    (0..16).for_each(|seed| _ = well(&troubled(seed, 3, &all())));
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

/// Environment variable that makes a test of determinism print its runs, for its parent to compare.
const CHILD: &str = "ROLECALL_SIMULATED_CHILD";

#[test]
fn a_seed_gives_the_same_run_again_here_and_in_another_process() {
    // The first run has many crashes: the order in which the tasks of a dead process are dropped must not show.
    let crashes = vec![FaultKind::Crash, FaultKind::PowerLoss, FaultKind::Shutdown];
    let on_queues =
        [(5, &crashes), (7, &all()), (8, &all()), (9, &all())].map(|(seed, kinds)| troubled(seed, 3, kinds));
    let on_leases = [5, 7, 8].map(|seed| lease::troubled(seed, 3, &lease::all()));
    let simulations: Vec<_> =
        on_queues.into_iter().chain(on_leases).map(|simulation| simulation.traced_from(Duration::ZERO)).collect();
    let runs = || simulations.iter().map(Simulation::run).collect::<Vec<_>>();
    let said = |runs: &[Run]| format!("{:?}", runs.iter().map(|run| (run.fingerprint, &run.tally)).collect::<Vec<_>>());
    if std::env::var_os(CHILD).is_some() {
        // Alone in this process, so a new thread shows.
        let threads = threads();
        println!("\n{CHILD} {}", said(&runs()));
        assert_eq!(self::threads(), threads, "a simulation started a thread, and threads are not deterministic");
        return;
    }

    let (first, second) = (runs(), runs());
    for (first, second) in first.iter().zip(&second) {
        assert!(first.steps > 100 && first.trace.lines().count() > 50, "there is something to compare");
        assert_eq!(first.trace, second.trace);
        assert_eq!(first, second);
    }
    assert_ne!(first[0].fingerprint, first[1].fingerprint, "seeds differ");

    let name = "a_seed_gives_the_same_run_again_here_and_in_another_process";
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    let output =
        child.args([name, "--exact", "--nocapture"]).env(CHILD, "1").output().expect("it can be started again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let told = text.lines().find_map(|line| line.strip_prefix(CHILD)).expect("the child tells what it saw");
    assert_eq!(told.trim(), said(&first));
}

fn threads() -> usize {
    fs::read_dir("/proc/self/task").expect("Linux tells of its threads").count()
}
