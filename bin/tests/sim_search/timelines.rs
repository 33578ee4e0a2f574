//! Timelines that a person can follow: a client repeats the same search while one thing goes wrong. Every message takes a
//! millisecond, sessions last four seconds, and the nodes start one after the other, so `a` leads at first.

use core::time::Duration;

use rolecall_cli::search_sim::{Question, follow, node};
use rolecall_sim::{Fault, Plan, Run, Simulation, Visitor};

const QUESTION: Question = Question { query: "\"river stone\" OR falcon", limit: 4, offset: 0 };

const MS: Duration = Duration::from_millis(1);
/// Time of the first search. The cluster has formed long before.
const START: Duration = Duration::from_millis(5_000);

/// Simulation in which a fault happens some time after the first search. It runs for `length` after that search, and until the
/// cluster is at rest.
fn run(nodes: u8, calm: Duration, faults: &[Fault], length: Duration) -> Run {
    let then = START + calm;
    let plan = faults.iter().fold(Plan::calm(), |plan, fault| plan.then(then, *fault));
    let searching = |visitor: Visitor| async move {
        let clock = visitor.clock();
        clock.sleep_until(clock.now() + START).await;
        follow(visitor, QUESTION, 6_000 * MS).await
    };
    let simulation = Simulation::new(node).visitor(searching).nodes(nodes).servers(1);
    let simulation = simulation.start_gap(500 * MS).network(MS, (MS, MS));
    let run = simulation.plan(plan).length(then + length).traced_from(START).run();
    assert_eq!(run.finding, None, "{}", run.trace);
    run
}

#[test]
fn the_leader_dies_during_searches() {
    let run = run(3, 1_000 * MS, &[Fault::Crash { node: 0, down: 8_000 * MS }], 9_000 * MS);
    insta::assert_snapshot!(run.trace);
}

#[test]
fn two_of_four_workers_die_during_searches() {
    let crash = |node| Fault::Crash { node, down: 8_000 * MS };
    // For a minute, the leader keeps the shards that it held when it was alone.
    let run = run(5, 75_000 * MS, &[crash(3), crash(4)], 9_000 * MS);
    insta::assert_snapshot!(run.trace);
}
