//! Short runs of three nodes with one fault each, as text that a person can follow. Every message takes a millisecond,
//! sessions last four seconds, and the nodes start one after the other, so `a` leads at first.

use core::time::Duration;

use rolecall_sim::{End, Fault, Plan, Run, Simulation, adder};

const A: u8 = 0;
const B: u8 = 1;
const C: u8 = 2;

const MS: Duration = Duration::from_millis(1);
/// Time of the fault: the cluster has long settled by then.
const THEN: Duration = Duration::from_millis(6_000);

fn simulation() -> Simulation {
    Simulation::new(adder::node)
        .visitor(adder::visit)
        .servers(1)
        .start_gap(Duration::from_secs(1))
        .network(MS, (MS, MS))
}

/// The trace from the fault on, for `length` and until the cluster is at rest.
fn after(fault: Fault, length: Duration) -> Run {
    run(simulation().plan(Plan::calm().then(THEN, fault)), length)
}

fn run(simulation: Simulation, length: Duration) -> Run {
    let run = simulation.length(THEN + length).traced_from(THEN).run();
    assert_eq!(run.finding, None, "{}", run.trace);
    run
}

#[test]
fn three_nodes_start_one_after_the_other() {
    let run = simulation().traced_from(Duration::ZERO).length(4_000 * MS).run();
    assert_eq!((run.finding, run.terms), (None, 1));
    insta::assert_snapshot!(run.trace);
}

#[test]
fn the_leader_crashes_and_comes_back_as_a_worker() {
    let run = after(Fault::Crash { node: A, down: 8_000 * MS }, 9_000 * MS);
    assert_eq!(run.terms, 2);
    insta::assert_snapshot!(run.trace);
}

#[test]
fn the_leaders_machine_loses_its_power_and_is_back_before_its_session_ends() {
    let run = after(Fault::PowerLoss { node: A, down: 1_000 * MS }, 6_000 * MS);
    insta::assert_snapshot!(run.trace);
}

#[test]
fn a_leader_that_is_paused_for_a_short_time_leads_on() {
    let run = after(Fault::Pause { node: A, length: 1_000 * MS }, 3_000 * MS);
    assert_eq!(run.terms, 1);
    insta::assert_snapshot!(run.trace);
}

// Q-B10
#[test]
fn a_leader_that_is_paused_for_long_finds_its_term_over_before_it_does_anything() {
    let run = after(Fault::Pause { node: A, length: 10_000 * MS }, 12_000 * MS);
    assert_eq!(run.terms, 2);
    insta::assert_snapshot!(run.trace);
}

// Q-B07
#[test]
fn a_leader_whose_link_to_the_store_is_silently_lost_stops_before_the_next_begins() {
    let run = after(Fault::Partition { from: End::Node(A), to: End::Store, length: 8_000 * MS }, 10_000 * MS);
    assert_eq!(run.terms, 2);
    insta::assert_snapshot!(run.trace);
}

#[test]
fn a_leader_that_one_server_of_the_store_does_not_reach_goes_to_another_and_leads_on() {
    let plan = Plan::calm().then(THEN, Fault::Partition { from: End::Node(A), to: End::Server(0), length: 8_000 * MS });
    let run = run(simulation().servers(3).plan(plan), 9_000 * MS);
    assert_eq!(run.terms, 1);
    insta::assert_snapshot!(run.trace);
}

// Q-B79
#[test]
fn a_worker_that_the_store_hears_but_that_does_not_hear_the_store_comes_back() {
    let run = after(Fault::OneWay { from: End::Store, to: End::Node(B), length: 9_000 * MS }, 11_000 * MS);
    assert_eq!(run.terms, 1);
    insta::assert_snapshot!(run.trace);
}

#[test]
fn a_worker_that_the_leader_does_not_reach_is_missing_from_answers_only() {
    let run = after(Fault::Partition { from: End::Node(A), to: End::Node(C), length: 3_000 * MS }, 5_000 * MS);
    assert_eq!(run.terms, 1);
    insta::assert_snapshot!(run.trace);
}

#[test]
fn the_leaders_server_loses_the_others_and_commits_nothing() {
    // With seed 0 the link of `a` goes to server 0, and that of `b` does not.
    let cut = Fault::Cut { server: 0, length: 8_000 * MS, deliver: false };
    let run = run(simulation().servers(3).seed(0).plan(Plan::calm().then(THEN, cut)), 10_000 * MS);
    assert_eq!(run.terms, 2);
    insta::assert_snapshot!(run.trace);
}

// Q-B16
#[test]
fn a_leader_gets_another_session_without_a_word() {
    let run = after(Fault::NewSession { node: A }, 8_000 * MS);
    insta::assert_snapshot!(run.trace);
}

// Q-B37
#[test]
fn a_leader_gives_its_session_up_while_the_store_keeps_it() {
    let run = after(Fault::SessionGivenUp { node: A }, 8_000 * MS);
    insta::assert_snapshot!(run.trace);
}

// Q-B19
#[test]
fn a_lone_node_whose_session_is_ended_leads_again() {
    let run = run(simulation().nodes(1).plan(Plan::calm().then(THEN, Fault::Expire { node: A })), 3_000 * MS);
    assert_eq!(run.terms, 2);
    insta::assert_snapshot!(run.trace);
}

// Q-B08
#[test]
fn an_operator_deletes_the_leaders_candidate() {
    let run = after(Fault::DeleteCandidate { node: A }, 3_000 * MS);
    assert_eq!(run.terms, 2);
    insta::assert_snapshot!(run.trace);
}

// Q-B64
#[test]
fn the_store_restarts_and_nobody_writes_anything_anew() {
    let run = after(Fault::StoreRestart, 2_000 * MS);
    assert_eq!(run.terms, 1);
    for write in ["enter", "join", "claim", "delete"] {
        assert!(!run.trace.contains(write), "{}", run.trace);
    }
    insta::assert_snapshot!(run.trace);
}

#[test]
fn the_store_comes_back_empty() {
    let run = after(Fault::DataLoss, 3_000 * MS);
    assert_eq!(run.terms, 2);
    insta::assert_snapshot!(run.trace);
}

// Q-B43
#[test]
fn the_answer_to_an_entry_into_the_queue_is_lost() {
    let plan = Plan::calm()
        .then(THEN, Fault::Crash { node: B, down: 500 * MS })
        .then(THEN, Fault::LostAnswers { node: B, writes_only: true, length: 5_000 * MS });
    let run = run(simulation().plan(plan), 9_000 * MS);
    assert_eq!(run.terms, 1);
    insta::assert_snapshot!(run.trace);
}

#[test]
fn a_leader_ends_in_good_order_and_no_request_is_lost() {
    let run = after(Fault::Shutdown { node: A, down: 2_000 * MS }, 4_000 * MS);
    assert_eq!(run.terms, 2);
    insta::assert_snapshot!(run.trace);
}
