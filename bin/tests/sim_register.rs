//! A register guarded by the epoch, on simulated machines: the answers to its clients judge the leaders, without a clock.

use core::time::Duration;

use rolecall_cli::register::sim::{keep, simulation};
use rolecall_cli::register::{Completion, History, Storage};
use rolecall_sim::{Broken, End, Fault, FaultKind, Plan, Run, Simulation};

const LENGTH: Duration = Duration::from_secs(60);

/// A minute of faults of these kinds, and then rest.
fn troubled(seed: u64, nodes: u8, kinds: &[FaultKind]) -> Simulation {
    simulation().seed(seed).nodes(nodes).length(LENGTH).plan(Plan::random(seed, kinds, LENGTH))
}

/// Runs the simulation; if a promise is broken, panics with the trace that led there. A history in which nothing was done
/// would judge nobody, so some writes and reads must have been done.
fn well(simulation: &Simulation) -> Run {
    let run = simulation.run();
    if let Some(finding) = &run.finding {
        let trace = simulation.clone().traced_from(Duration::ZERO).run().trace;
        panic!("seed {}: {finding}\n{trace}", run.seed);
    }
    let count = |what| run.tally.get(what).copied().unwrap_or_default();
    assert!(count("writes done") >= 10 && count("reads done") >= 10, "seed {}: {:?}", run.seed, run.tally);
    run
}

#[test]
fn a_calm_cluster_does_everything_that_it_is_asked() {
    let run = well(&simulation());

    let done = run.tally["writes done"] + run.tally["reads done"];
    assert!(done > 300 && !run.tally.contains_key("writes unknown"), "{:?}", run.tally);
}

#[test]
fn mixtures_of_faults_leave_a_history_that_has_an_order() {
    let runs: Vec<_> = (0..16).map(|seed| well(&troubled(seed, 3, FaultKind::ALL))).collect();

    let sum = |what| runs.iter().filter_map(|run| run.tally.get(what)).sum::<u64>();
    assert!(
        sum("writes done") > 1_000 && sum("writes unknown") > 20,
        "{} {}",
        sum("writes done"),
        sum("writes unknown")
    );
    assert!(runs.iter().map(|run| run.terms).sum::<u32>() > 50);
}

#[test]
fn one_node_and_seven_keep_the_order_too() {
    (100..103).for_each(|seed| _ = well(&troubled(seed, 1, FaultKind::ALL)));
    (200..203).for_each(|seed| _ = well(&troubled(seed, 7, FaultKind::ALL)));
}

/// As many pauses and stalled links as there is room for: these are what makes leaders late.
#[test]
fn leaders_that_are_late_all_the_time_mislead_nobody() {
    (0..8).for_each(|seed| _ = well(&troubled(seed, 3, &[FaultKind::Pause, FaultKind::Stall, FaultKind::SlowLink])));
}

/// A request that a client sent to a process that dies may have been done, so it is not sent again.
#[test]
fn crashes_all_the_time_make_no_write_happen_twice() {
    (0..8).for_each(|seed| _ = well(&troubled(seed, 3, &[FaultKind::Crash])));
}

/// One node after the other is stopped while it leads, until another one leads. When it goes on, requests wait in its
/// sockets, and may be served before its own loop sees the time.
#[test]
fn a_leader_that_was_stopped_tells_nothing_of_its_old_term() {
    let pause = |at, node| (Duration::from_secs(at), Fault::Pause { node, length: Duration::from_millis(5_500) });
    let pauses = [pause(8, 0), pause(20, 1), pause(32, 2), pause(44, 0), pause(56, 1), pause(68, 2)];
    let plan = pauses.into_iter().fold(Plan::calm(), |plan, (at, fault)| plan.then(at, fault));
    for seed in 0..12 {
        let simulated = simulation().seed(seed).session_timeout(Duration::from_secs(2)).plan(plan.clone());
        let run = well(&simulated.start_gap(Duration::from_secs(1)).length(Duration::from_secs(80)));
        assert!(run.terms >= 5, "seed {seed}: {} terms", run.terms);
    }
}

/// A leader's link to the storage stalls, with a write or the answer to one on its way. Another leader takes over, and then
/// the write arrives. A third leader loads what the storage made of it.
#[test]
fn writes_of_an_old_term_that_come_late_are_refused() {
    let storages = [0, 1, 2, 3, 4, 5].map(|seed| {
        let storage = Storage::new();
        let kept = storage.clone();
        let stall = Fault::Stall { from: End::Node(0), to: End::Store, length: Duration::from_secs(9) };
        let crash = Fault::Crash { node: 1, down: Duration::from_secs(8) };
        let simulated = simulation()
            .seed(seed)
            .storage(move |host| keep(kept.clone(), host))
            .start_gap(Duration::from_secs(1))
            .length(Duration::from_secs(35))
            .plan(Plan::calm().then(Duration::from_secs(10), stall).then(Duration::from_secs(22), crash));
        assert!(well(&simulated).terms >= 3, "seed {seed}");
        storage
    });
    assert!(storages.iter().any(|storage| storage.late_writes() > 0));
}

#[test]
fn a_seed_gives_the_same_history_again() {
    for seed in [3, 4] {
        let simulated = troubled(seed, 3, FaultKind::ALL).traced_from(Duration::ZERO);
        let (first, second) = (simulated.run(), simulated.run());
        assert_eq!(first, second);
        assert!(first.steps > 100 && !first.trace.is_empty());
    }
    let fingerprint = |seed| troubled(seed, 3, &[FaultKind::Pause]).run().fingerprint;
    assert_ne!(fingerprint(3), fingerprint(4));
}

/// A judge that cannot find anything is no good: here a client records an answer that it never received.
#[test]
fn a_history_without_an_order_is_found_with_its_moment() {
    let simulated = simulation().length(Duration::from_secs(10)).visitor(|visitor| async move {
        let (clock, history) = (visitor.clock(), visitor.evidence::<History>());
        clock.sleep_until(rolecall::Time::from_millis(7_000)).await;
        let (_, value) = history.write(9, clock.now());
        let ticket = history.read(9, clock.now());
        let incarnation = rolecall::Incarnation(1);
        let before = Completion::Done { at: clock.now(), incarnation, version: 1, value: Some(value + 1) };
        history.complete(ticket, before);
        core::future::pending().await
    });

    let finding = simulated.run().finding.expect("a value was read that nobody wrote");

    assert!(matches!(&finding.what, Broken::Evidence(text) if text.contains("client 9 reads")), "{finding}");
    assert_eq!(finding.at.since(rolecall::Time::ZERO).as_secs(), 7);
}
