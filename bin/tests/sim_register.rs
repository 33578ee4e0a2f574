//! A register guarded by the epoch, on simulated machines: the answers to its clients judge the leaders, without a clock. Each
//! story is told of a store that keeps a queue, and of one that keeps a lease.

use core::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use rolecall::http::{Front, HandlerSlot, Hosts, Server, ServerLimits, json};
use rolecall::{BoxFuture, Epoch, Family, Fence, Incarnation};
use rolecall_cli::register::sim::{keep, simulation};
use rolecall_cli::register::{Completion, History, Storage};
use rolecall_sim::{Broken, End, Fault, FaultKind, Plan, Run, Simulation};

const LENGTH: Duration = Duration::from_secs(60);

const FAMILIES: [Family; 2] = [Family::Queue, Family::Lease];

/// Every family with every fault that its store has.
fn all() -> impl Iterator<Item = (Family, Vec<FaultKind>)> {
    FAMILIES.into_iter().map(|family| (family, FaultKind::of(family)))
}

fn on(family: Family) -> Simulation {
    simulation().election(family)
}

/// A minute of faults of these kinds, and then rest.
fn troubled(family: Family, seed: u64, nodes: u8, kinds: &[FaultKind]) -> Simulation {
    on(family).seed(seed).nodes(nodes).length(LENGTH).plan(Plan::random(seed, kinds, LENGTH))
}

/// Runs the simulation; if a promise is broken, panics with the trace that led there. A history in which nothing was done
/// would judge nobody, so some writes and reads must have been done.
fn well(simulation: &Simulation) -> Run {
    let run = simulation.run();
    if let Some(finding) = &run.finding {
        let trace = simulation.clone().traced_from(Duration::ZERO).run().trace;
        panic!("seed {}: {finding}\n{simulation:?}\n{trace}", run.seed);
    }
    let count = |what| run.tally.get(what).copied().unwrap_or_default();
    assert!(count("writes done") >= 10 && count("reads done") >= 10, "seed {}: {:?}", run.seed, run.tally);
    run
}

#[test]
fn a_calm_cluster_does_everything_that_it_is_asked() {
    for family in FAMILIES {
        let run = well(&on(family));
        let done = run.tally["writes done"] + run.tally["reads done"];
        assert!(done > 300 && !run.tally.contains_key("writes unknown"), "{family}: {:?}", run.tally);
    }
}

#[test]
fn mixtures_of_faults_leave_a_history_that_has_an_order() {
    for (family, kinds) in all() {
        let runs: Vec<_> = (0..16).map(|seed| well(&troubled(family, seed, 3, &kinds))).collect();
        let sum = |what| runs.iter().filter_map(|run| run.tally.get(what)).sum::<u64>();
        let (done, unknown) = (sum("writes done"), sum("writes unknown"));
        assert!(done > 1_000 && unknown > 20, "{family}: {done} {unknown}");
        assert!(runs.iter().map(|run| run.terms).sum::<u32>() > 50, "{family}");
    }
}

#[test]
fn one_node_and_seven_keep_the_order_too() {
    for (family, kinds) in all() {
        (100..103).for_each(|seed| _ = well(&troubled(family, seed, 1, &kinds)));
        (200..203).for_each(|seed| _ = well(&troubled(family, seed, 7, &kinds)));
    }
}

/// As many pauses and stalled links as there is room for: these are what makes leaders late.
#[test]
fn leaders_that_are_late_all_the_time_mislead_nobody() {
    let late = [FaultKind::Pause, FaultKind::Stall, FaultKind::SlowLink];
    (0..8).for_each(|seed| _ = well(&troubled(Family::Queue, seed, 3, &late)));
    // A clock that steps makes a lease end before its time.
    let early = [FaultKind::Pause, FaultKind::Stall, FaultKind::SlowLink, FaultKind::Clock];
    (0..8).for_each(|seed| _ = well(&troubled(Family::Lease, seed, 3, &early)));
}

/// A request that a client sent to a process that dies may have been done, so it is not sent again.
#[test]
fn crashes_all_the_time_make_no_write_happen_twice() {
    for family in FAMILIES {
        (0..8).for_each(|seed| _ = well(&troubled(family, seed, 3, &[FaultKind::Crash])));
    }
}

/// One node after the other is stopped while it leads, until another one leads. When it goes on, requests wait in its
/// sockets, and may be served before its own loop sees the time.
#[test]
fn a_leader_that_was_stopped_tells_nothing_of_its_old_term() {
    let pause = |at, node| (Duration::from_secs(at), Fault::Pause { node, length: Duration::from_millis(5_500) });
    let pauses = [pause(8, 0), pause(20, 1), pause(32, 2), pause(44, 0), pause(56, 1), pause(68, 2)];
    let plan = pauses.into_iter().fold(Plan::calm(), |plan, (at, fault)| plan.then(at, fault));
    for (family, seed) in FAMILIES.into_iter().flat_map(|family| (0..12).map(move |seed| (family, seed))) {
        let simulated = on(family).seed(seed).session_timeout(Duration::from_secs(2)).plan(plan.clone());
        let run = well(&simulated.start_gap(Duration::from_secs(1)).length(Duration::from_secs(80)));
        // The queue decides who leads next; a lease goes to whoever comes first, so not every pause meets a leader.
        let least = if family == Family::Queue { 5 } else { 3 };
        assert!(run.terms >= least, "{family}, seed {seed}: {} terms", run.terms);
    }
}

/// A leader's link to the store and to the storage stalls, with a write or the answer to one on its way. Another leader takes
/// over, and then the write arrives. A third leader loads what the storage made of it.
fn with_late_writes(family: Family, seed: u64) -> Simulation {
    let stall = Fault::Stall { from: End::Node(0), to: End::Store, length: Duration::from_secs(9) };
    let crash = Fault::Crash { node: 1, down: Duration::from_secs(8) };
    on(family)
        .seed(seed)
        .start_gap(Duration::from_secs(1))
        .length(Duration::from_secs(35))
        .plan(Plan::calm().then(Duration::from_secs(10), stall).then(Duration::from_secs(22), crash))
}

#[test]
fn writes_of_an_old_term_that_come_late_are_refused() {
    for family in FAMILIES {
        let storages = [0, 1, 2, 3, 4, 5].map(|seed| {
            let storage = Storage::new();
            let kept = storage.clone();
            let simulated = with_late_writes(family, seed).storage(move |host| keep(kept.clone(), host));
            // The second leader of a queue is `b`, which crashes; that of a lease may be another.
            let least = if family == Family::Queue { 3 } else { 2 };
            assert!(well(&simulated).terms >= least, "{family}, seed {seed}");
            storage
        });
        assert!(storages.iter().any(|storage| storage.late_writes() > 0), "{family}");
    }
}

/// A storage that asks nobody for a term: it takes every write for one of the newest leader.
#[derive(Debug, Default)]
struct Careless(Storage);

impl Front for Careless {
    fn answer<'a>(&'a self, head: &'a Request<()>) -> BoxFuture<'a, Option<Response<Bytes>>> {
        let numbers: Vec<u64> = head.uri().path().split('/').filter_map(|word| word.parse().ok()).collect();
        let fence = Fence { incarnation: Incarnation(numbers[0]), epoch: Epoch(1) };
        let loaded = self.0.load(fence).expect("every term looks the same");
        let answer = match numbers.get(3) {
            None => json(StatusCode::OK, &loaded),
            Some(value) => {
                self.0.store(fence, loaded.load, *value).expect("it was just loaded");
                json(StatusCode::OK, value)
            }
        };
        Box::pin(async { Some(answer) })
    }
}

/// A judge that cannot find anything is no good: here the storage lets late writes in.
#[test]
fn writes_of_an_old_term_that_are_let_in_late_are_found() {
    for family in FAMILIES {
        let findings = [0, 1, 2, 3, 4, 5].map(|seed| {
            let simulated = with_late_writes(family, seed).storage(|host| async move {
                let (storage, limits) = (std::sync::Arc::new(Careless::default()), ServerLimits::default());
                let (slot, address) = (HandlerSlot::default(), host.listen());
                let limits = limits.without_date();
                let _server =
                    Server::bind(&*host.net(), host.clock(), &address, slot, Some(storage), Hosts::any(), limits)
                        .await?;
                core::future::pending().await
            });
            simulated.run().finding
        });
        let is_found = findings.iter().flatten().any(
            |finding| matches!(&finding.what, Broken::Evidence(text) if text.contains("the register is not linearizable")),
        );
        assert!(is_found, "{family}: {findings:?}");
        assert!(findings.iter().flatten().all(|finding| matches!(finding.what, Broken::Evidence(_))), "{findings:?}");
    }
}

#[test]
fn a_seed_gives_the_same_history_again() {
    for (family, kinds) in all() {
        for seed in [3, 4] {
            let simulated = troubled(family, seed, 3, &kinds).traced_from(Duration::ZERO);
            let (first, second) = (simulated.run(), simulated.run());
            assert_eq!(first, second);
            assert!(first.steps > 100 && !first.trace.is_empty());
        }
        let fingerprint = |seed| troubled(family, seed, 3, &[FaultKind::Pause]).run().fingerprint;
        assert_ne!(fingerprint(3), fingerprint(4));
    }
}

/// A judge that cannot find anything is no good: here a client records an answer that it never received.
#[test]
fn a_history_without_an_order_is_found_with_its_moment() {
    for family in FAMILIES {
        let simulated = on(family).length(Duration::from_secs(10)).visitor(|visitor| async move {
            let (clock, history) = (visitor.clock(), visitor.evidence::<History>());
            clock.sleep_until(rolecall::Time::from_millis(7_000)).await;
            let (_, value) = history.write(9, clock.now());
            let ticket = history.read(9, clock.now());
            let incarnation = Incarnation(1);
            let before = Completion::Done { at: clock.now(), incarnation, version: 1, value: Some(value + 1) };
            history.complete(ticket, before);
            core::future::pending().await
        });

        let finding = simulated.run().finding.expect("a value was read that nobody wrote");

        assert!(matches!(&finding.what, Broken::Evidence(text) if text.contains("client 9 reads")), "{finding}");
        assert_eq!(finding.at.since(rolecall::Time::ZERO).as_secs(), 7);
    }
}
