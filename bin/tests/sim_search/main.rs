//! The document search on simulated machines: whoever searches gets what one node alone would answer, or is told what is missing,
//! or why there is no answer.

mod healing;
mod lease;
mod timelines;

use core::time::Duration;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use rolecall::Family;
use rolecall_cli::search_sim::{node, visit};
use rolecall_sim::{Fault, FaultKind, Plan, Run, Simulation, Visitor};

const SECOND: Duration = Duration::from_secs(1);
/// When the first question is asked, and when the first thing goes wrong: the cluster has found itself long before.
const START: Duration = Duration::from_secs(6);
const THEN: Duration = Duration::from_secs(12);

/// The one that leads at first: the nodes start one after the other.
const A: u8 = 0;
const B: u8 = 1;
/// Among four workers these two hold three of the eight shards, and nobody else does.
const D: u8 = 3;
const E: u8 = 4;

/// Nodes that start one after the other, and somebody who searches once they have found each other.
fn settled(nodes: u8) -> Simulation {
    let patient = |visitor: Visitor| async move {
        let clock = visitor.clock();
        clock.sleep_until(clock.now() + START).await;
        visit(visitor).await
    };
    Simulation::new(node).visitor(patient).nodes(nodes).start_gap(SECOND / 2)
}

/// Some of this goes wrong to a cluster that has settled.
fn after(nodes: u8, faults: &[Fault], length: Duration) -> Run {
    let plan = faults.iter().fold(Plan::calm(), |plan, fault| plan.then(THEN, *fault));
    well(&settled(nodes).plan(plan).length(THEN + length))
}

/// Runs it; where something is not as promised it tells what led to it.
fn well(simulation: &Simulation) -> Run {
    let run = simulation.run();
    if let Some(finding) = &run.finding {
        let trace = simulation.clone().traced_from(Duration::ZERO).run().trace;
        panic!("seed {}: {finding}\n{trace}", run.seed);
    }
    run
}

const RIGHT: &str = "right answers";
const PARTIAL: &str = "partial answers";
const REFUSED: &str = "bad queries refused";

fn count(run: &Run, what: &str) -> u64 {
    run.tally.get(what).copied().unwrap_or_default()
}

/// Each question was answered: as by one node alone, or refused for its form.
fn is_flawless(run: &Run) -> bool {
    run.tally.keys().all(|what| what == RIGHT || what == REFUSED) && count(run, RIGHT) > 50 && count(run, REFUSED) > 5
}

/// So it is but for the questions that went to one who was not there.
fn has_only_unheard(mut run: Run) -> bool {
    run.tally.remove("times nothing in time");
    is_flawless(&run)
}

#[test]
fn in_a_calm_cluster_every_answer_is_right_however_many_nodes_there_are() {
    for nodes in [1, 2, 3, 5, 7] {
        let run = well(&settled(nodes).length(THEN * 3));
        assert!(is_flawless(&run), "{nodes} nodes: {:?}", run.tally);
        assert_eq!(run.terms, 1);
    }
}

#[test]
fn a_cluster_that_starts_is_soon_whole() {
    for nodes in [3, 5] {
        let run = well(&Simulation::new(node).visitor(visit).nodes(nodes).length(THEN));
        assert!(count(&run, RIGHT) > 10, "{nodes} nodes: {:?}", run.tally);
    }
}

#[test]
fn a_leader_that_dies_is_replaced_and_the_answers_are_the_same() {
    for nodes in [3, 5] {
        let run = after(nodes, &[Fault::Crash { node: A, down: 15 * SECOND }], 25 * SECOND);
        assert_eq!(run.terms, 2);
        assert!(count(&run, RIGHT) > 50, "{:?}", run.tally);
    }
}

#[test]
fn a_worker_that_dies_costs_no_answer() {
    for nodes in [2, 3, 5] {
        for fault in [Fault::Crash { node: B, down: 15 * SECOND }, Fault::PowerLoss { node: B, down: 15 * SECOND }] {
            let run = after(nodes, &[fault], 25 * SECOND);
            assert!(has_only_unheard(run.clone()), "{nodes} nodes, {fault:?}: {:?}", run.tally);
            assert_eq!(run.terms, 1);
        }
    }
}

#[test]
fn two_workers_of_four_that_die_at_once_are_missed_and_then_are_not() {
    // A leader that once had few workers has kept all of their shards for a minute.
    let late = Duration::from_secs(80);
    let crash = |node| Fault::Crash { node, down: 15 * SECOND };
    let plan = Plan::calm().then(late, crash(D)).then(late, crash(E));
    let run = well(&settled(5).plan(plan).length(late + 25 * SECOND));
    assert_eq!(run.terms, 1);
    assert!(count(&run, PARTIAL) > 0 && count(&run, RIGHT) > 50, "{:?}", run.tally);
}

#[test]
fn a_worker_that_hangs_costs_no_answer() {
    for nodes in [3, 5] {
        let run = after(nodes, &[Fault::Pause { node: B, length: 15 * SECOND }], 25 * SECOND);
        assert_eq!((run.terms, count(&run, PARTIAL)), (1, 0), "{:?}", run.tally);
        assert!(count(&run, RIGHT) > 50, "{:?}", run.tally);
    }
}

#[test]
fn a_leader_that_is_stopped_for_longer_than_its_session_says_nothing_when_it_goes_on() {
    for nodes in [3, 5] {
        let run = after(nodes, &[Fault::Pause { node: A, length: 10 * SECOND }], 20 * SECOND);
        assert_eq!(run.terms, 2);
        assert!(count(&run, RIGHT) > 50, "{:?}", run.tally);
    }
}

#[test]
fn a_leader_whose_store_is_cut_off_hands_over() {
    // With seed 0 the link of `a` goes to server 0.
    let run = after(3, &[Fault::Cut { server: 0, length: 10 * SECOND, deliver: true }], 20 * SECOND);
    assert_eq!(run.terms, 2);
    assert!(count(&run, RIGHT) > 50, "{:?}", run.tally);
}

#[test]
fn a_store_that_restarts_costs_no_answer() {
    let run = after(5, &[Fault::StoreRestart], 15 * SECOND);
    assert_eq!(run.terms, 1);
    assert!(is_flawless(&run), "{:?}", run.tally);
}

#[test]
fn a_store_that_comes_back_empty_is_filled_again() {
    let run = after(5, &[Fault::DataLoss], 15 * SECOND);
    assert_eq!(run.terms, 2);
    assert!(count(&run, RIGHT) > 30, "{:?}", run.tally);
}

/// Faults of these kinds for a while, and then rest.
fn troubled(seed: u64, nodes: u8, kinds: &[FaultKind]) -> Simulation {
    let length = Duration::from_secs(60);
    let simulation = Simulation::new(node).visitor(visit).seed(seed).nodes(nodes).length(length);
    simulation.plan(Plan::random(seed, kinds, length))
}

#[test]
fn mixtures_of_all_faults_never_give_a_wrong_answer() {
    let mut tally: BTreeMap<String, u64> = BTreeMap::new();
    for (nodes, seeds) in [(3, 0..8), (5, 100..108)] {
        for seed in seeds {
            let run = well(&troubled(seed, nodes, &FaultKind::of(Family::Queue)));
            assert!(count(&run, RIGHT) > 20, "seed {seed}: {:?}", run.tally);
            run.tally.into_iter().for_each(|(what, count)| *tally.entry(what).or_default() += count);
        }
    }
    for what in [RIGHT, REFUSED, "times no_role", "times no_leader", "times nothing in time"] {
        assert!(tally.contains_key(what), "{what}: {tally:?}");
    }
    assert!(tally[RIGHT] > 1_500, "{tally:?}");
}

/// The variable that makes a test of determinism say what it saw, for its parent to compare.
const CHILD: &str = "ROLECALL_SIMULATED_CHILD";

#[test]
fn a_seed_gives_the_same_searches_again_here_and_in_another_process_and_no_thread() {
    let crashes = [FaultKind::Crash, FaultKind::PowerLoss, FaultKind::Shutdown];
    let all = FaultKind::of(Family::Queue);
    let simulations = [
        troubled(5, 5, &crashes),
        troubled(7, 3, &all),
        troubled(8, 5, &all),
        lease::troubled(7, 3),
        lease::troubled(8, 5),
    ];
    let runs = || simulations.each_ref().map(|simulation| simulation.clone().traced_from(Duration::ZERO).run());
    let said = |runs: &[Run]| format!("{:?}", runs.iter().map(|run| (run.fingerprint, &run.tally)).collect::<Vec<_>>());
    if std::env::var_os(CHILD).is_some() {
        // Alone in this process: whoever starts a thread is found out.
        let threads = threads();
        println!("\n{CHILD} {}", said(&runs()));
        assert_eq!(self::threads(), threads, "a simulated search started a thread, and threads are not deterministic");
        return;
    }

    let (first, second) = (runs(), runs());
    for (first, second) in first.iter().zip(&second) {
        assert!(first.steps > 100 && count(first, RIGHT) > 20, "there is something to compare");
        assert_eq!(first.trace, second.trace);
        assert_eq!(first, second);
    }

    let name = "a_seed_gives_the_same_searches_again_here_and_in_another_process_and_no_thread";
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
