//! Cases of elections by a lease: the term ends in time, attempts leave nothing behind, and waiters wake.

use std::time::Duration;

use rolecall_core::election::Timing;
use rolecall_core::store::{Answer, Fault, LeaseReply, LeaseRequest, Refusal, Reply, Request, Server};
use rolecall_core::testing::{Cluster, LATENCY, TIMEOUT};
use rolecall_core::{Config, Event, Fence, Role, Time, Token};

use crate::leads;

/// Three nodes at rest on a store that keeps a lease, led by `a`.
fn three() -> Cluster {
    let mut cluster = Cluster::with_lease();
    cluster.start_in_order(&["a", "b", "c"]);
    cluster.settle();
    assert_eq!(cluster.leaders(), ["a"]);
    cluster.fresh_trace();
    cluster
}

fn term(cluster: &Cluster, name: &str) -> (Fence, Time) {
    cluster.node(name).term().unwrap_or_else(|| panic!("{name} does not lead\n{}", cluster.trace.text()))
}

/// Time for which one confirmed write keeps a term.
fn validity() -> Duration {
    let mut config = Config::new("a");
    config.election = Timing::LEASE;
    config.validity(TIMEOUT).expect("the margin leaves something")
}

/// Makes a node read the lease again, as after a reconnect.
fn look(cluster: &mut Cluster, name: &'static str) {
    let (session, _) = cluster.node(name).session().expect("it is connected");
    cluster.deliver(name, Event::SessionUp { session, timeout: TIMEOUT, entropy: session.0 });
}

fn is_acquire(request: &Request) -> bool {
    matches!(request, Request::Lease(LeaseRequest::Acquire { .. }))
}

fn is_renew(request: &Request) -> bool {
    matches!(request, Request::Lease(LeaseRequest::Renew { .. }))
}

fn is_release(request: &Request) -> bool {
    matches!(request, Request::Lease(LeaseRequest::Release { .. }))
}

fn is_renewed(event: &Event) -> bool {
    matches!(event, Event::Answered { answer: Answer::Done(Reply::Lease(LeaseReply::Renewed)), .. })
}

fn token_of(request: &Request) -> Option<Token> {
    match request {
        Request::Lease(LeaseRequest::Acquire { token, .. }) => Some(*token),
        Request::Lease(_)
        | Request::Queue(_)
        | Request::Sync
        | Request::Term(_)
        | Request::Directory(_)
        | Request::Settings(_)
        | Request::Wish(_) => None,
    }
}

// L-B01
#[test]
fn a_leader_that_sees_another_holder_steps_down_at_once_and_renews_no_more() {
    let mut cluster = three();
    // The renewals go unanswered, so nothing but a look tells the leader who holds the lease.
    cluster.host("a").loses = Some(is_renew);
    cluster.fault(Fault::Lapse);
    look(&mut cluster, "b");
    cluster.until("b held it", |cluster| cluster.store.lease().is_some_and(|holding| &*holding.id == "b"));
    assert!(cluster.node("a").term().is_some(), "it does not know yet");
    look(&mut cluster, "a");
    cluster.run(3 * LATENCY);
    assert!(cluster.node("a").term().is_none());
    let renewed = cluster.hosts["a"].count(is_renew);
    cluster.settle();
    assert!(leads(&cluster, "b"));
    assert_eq!(cluster.hosts["a"].count(is_renew), renewed);
}

// L-B03, L-B04, L-B42
#[test]
fn a_term_ends_by_its_own_clock_while_a_renewal_hangs() {
    let mut cluster = three();
    cluster.host("a").loses = Some(|_| true);
    let (_, until) = term(&cluster, "a");
    cluster.run(until.since(cluster.now) + LATENCY);
    assert!(cluster.node("a").term().is_none());
    cluster.until("b or c led", |cluster| !cluster.leaders().is_empty());
    assert!(!leads(&cluster, "a"));
}

// L-B06
#[test]
fn after_the_server_has_restarted_somebody_leads_again() {
    let mut cluster = three();
    let (before, _) = term(&cluster, "a");
    cluster.fault(Fault::Restart { keep_data: true });
    cluster.until("a stopped", |cluster| cluster.node("a").term().is_none());
    cluster.settle();
    let leader = cluster.leaders()[0];
    let (after, _) = term(&cluster, leader);
    assert_ne!(after.incarnation, before.incarnation, "the last writes may be lost, so epochs begin anew");
}

// L-B10, L-B14, L-B32
#[test]
fn a_leader_that_slept_for_longer_than_its_lease_is_deposed_before_it_contends_again() {
    let mut cluster = three();
    let (before, _) = term(&cluster, "a");
    cluster.pause("a");
    cluster.until("another led", |cluster| !cluster.leaders().is_empty() && !leads(cluster, "a"));
    let (next, _) = term(&cluster, cluster.leaders()[0]);
    cluster.resume("a");
    // The gate is judged as soon as the process goes on, before it has read anything.
    assert!(!cluster.leaders().contains(&"a") && next.is_newer_than(before));
    cluster.settle();
    assert_eq!(cluster.role("a"), Role::Worker);
}

// L-B32
#[test]
fn a_node_alone_that_slept_leads_again_in_a_new_term() {
    let mut cluster = Cluster::with_lease();
    cluster.start("a");
    cluster.settle();
    let (before, _) = term(&cluster, "a");
    cluster.pause("a");
    cluster.run(3 * TIMEOUT);
    cluster.resume("a");
    assert!(cluster.leaders().is_empty());
    cluster.settle();
    assert!(term(&cluster, "a").0.is_newer_than(before));
}

// L-B15
#[test]
fn whoever_loses_the_race_for_a_free_lease_never_leads() {
    let mut cluster = three();
    // Both see it free before either acquires it.
    let is_free =
        |event: &Event| matches!(event, Event::Answered { answer: Answer::Done(Reply::Lease(LeaseReply::Free)), .. });
    cluster.host("b").holds = Some(is_free);
    cluster.host("c").holds = Some(is_free);
    cluster.crash("a");
    cluster.run(2 * TIMEOUT);
    let acquired = cluster.hosts["c"].count(is_acquire);
    cluster.release("b");
    cluster.release("c");
    cluster.settle();
    assert_eq!(cluster.leaders().len(), 1);
    assert!(cluster.hosts["c"].count(is_acquire) <= acquired + 1, "a refused attempt is not repeated blindly");
}

// L-B20
#[test]
fn every_attempt_has_a_token_of_its_own() {
    let mut cluster = three();
    for _ in 0..3 {
        cluster.fault(Fault::Lapse);
        cluster.until("noticed", |cluster| cluster.leaders().is_empty());
        cluster.settle();
    }
    let mut tokens: Vec<_> = cluster
        .hosts
        .values()
        .flat_map(|host| host.asked.iter().filter_map(|(_, request)| token_of(request)))
        .collect();
    let count = tokens.len();
    tokens.sort_unstable();
    tokens.dedup();
    assert!(count >= 4 && tokens.len() == count, "{tokens:?}");
}

// L-B25, L-B26
#[test]
fn a_lease_is_renewed_while_its_service_stops_and_given_up_only_then() {
    let mut cluster = three();
    cluster.host("a").stop_takes = TIMEOUT * 2;
    cluster.deliver("a", Event::Resign);
    let renewed = cluster.hosts["a"].count(is_renew);
    cluster.run(TIMEOUT);
    assert!(cluster.hosts["a"].count(is_renew) >= renewed + 5, "the lease is kept while the service drains");
    assert_eq!(cluster.hosts["a"].count(is_release), 0);
    cluster.until("given up", |cluster| cluster.hosts["a"].count(is_release) == 1);
    assert_eq!(cluster.role("a"), Role::None);
    let given_up = cluster.now;
    cluster.until("another leads", |cluster| cluster.leaders().iter().any(|name| *name != "a"));
    assert!(cluster.now.since(given_up) < Duration::from_millis(50), "{:?}", cluster.now.since(given_up));
}

// L-B29
#[test]
fn validity_counts_from_the_call_of_the_attempt_that_succeeded() {
    let mut cluster = three();
    cluster.host("b").loses = Some(is_acquire);
    cluster.host("c").loses = Some(is_acquire);
    cluster.crash("a");
    cluster.run(2 * TIMEOUT);
    (cluster.host("b").loses, cluster.host("c").loses) = (None, None);
    cluster.host("b").answers_take = 40 * LATENCY;
    cluster.host("c").answers_take = 40 * LATENCY;
    cluster.until("another led", |cluster| !cluster.leaders().is_empty());
    let (_, until) = term(&cluster, cluster.leaders()[0]);
    let called = cluster.now - 42 * LATENCY;
    assert_eq!(until, called + validity());
}

// L-B31
#[test]
fn a_lease_that_is_gone_ends_the_term_and_a_new_one_has_a_new_epoch() {
    let mut cluster = three();
    let (before, _) = term(&cluster, "a");
    cluster.fault(Fault::Lapse);
    cluster.until("a noticed", |cluster| cluster.node("a").term().is_none());
    assert!(cluster.store.lease().is_none(), "a renewal brings nothing back");
    cluster.settle();
    assert!(term(&cluster, cluster.leaders()[0]).0.is_newer_than(before));
}

// L-B33, L-B37, L-B39
#[test]
fn one_renewal_that_fails_or_hangs_ends_nothing() {
    let mut cluster = three();
    let (fence, _) = term(&cluster, "a");
    cluster.host("a").loses = Some(is_renew);
    cluster.run(TIMEOUT / 2);
    cluster.host("a").loses = None;
    cluster.run(2 * TIMEOUT);
    assert_eq!(term(&cluster, "a").0, fence, "the next renewals keep the term");
}

// L-B35
#[test]
fn an_attempt_whose_answer_is_lost_is_given_back_and_not_adopted() {
    let mut cluster = Cluster::with_lease();
    cluster.start("a");
    cluster.settle();
    cluster.host("a").loses = Some(is_acquire);
    cluster.fault(Fault::Lapse);
    cluster.until("acquired unheard", |cluster| cluster.store.lease().is_some());
    let unheard = cluster.store.lease().map(|holding| holding.token);
    cluster.host("a").loses = None;
    cluster.settle();
    let held = cluster.store.lease().map(|holding| holding.token);
    assert!(held.is_some() && held != unheard);
    assert_eq!(cluster.hosts["a"].count(is_release), 1);
}

// L-B40
#[test]
fn a_renewal_that_is_confirmed_late_does_not_revive_a_lost_lease() {
    let mut cluster = three();
    cluster.host("a").holds = Some(is_renewed);
    cluster.run(TIMEOUT / 4);
    cluster.fault(Fault::Lapse);
    cluster.until("a was told", |cluster| cluster.node("a").term().is_none());
    cluster.release("a");
    assert!(cluster.node("a").term().is_none());
    cluster.settle();
}

// L-B45, L-B48
#[test]
fn a_waiter_that_is_never_told_of_a_release_looks_at_the_leases_end() {
    let mut cluster = three();
    for name in ["b", "c"] {
        cluster.host(name).holds = Some(|event| matches!(event, Event::Noticed { .. }));
    }
    cluster.deliver("a", Event::Shutdown);
    cluster.until("another led", |cluster| cluster.leaders().iter().any(|name| *name != "a"));
}

// L-B50
#[test]
fn a_replica_without_the_last_writes_lets_nobody_lead_while_a_lost_lease_may_live() {
    let mut cluster = Cluster::with_lease();
    cluster.start("a");
    cluster.fault(Fault::Lag(Server(0)));
    cluster.settle();
    let (before, until) = term(&cluster, "a");
    cluster.fault(Fault::Restart { keep_data: true });
    cluster.start("b");
    let restarted = cluster.now;
    cluster.until("somebody led again", |cluster| {
        cluster.hosts.values().any(|host| host.node.term().is_some_and(|(fence, _)| fence != before))
    });
    assert!(cluster.now > until && cluster.now.since(restarted) >= TIMEOUT);
    let (after, _) = term(&cluster, cluster.leaders()[0]);
    assert_ne!(after.incarnation, before.incarnation);
}

// L-B51
#[test]
fn a_time_to_live_of_zero_is_refused() {
    let mut cluster = three();
    let (session, _) = cluster.node("b").session().expect("it is connected");
    let id = cluster.hosts["b"].newest(|_| true);
    let token = Token(1);
    cluster.fault(Fault::Lapse);
    let zero = Request::Lease(LeaseRequest::Acquire {
        token,
        ttl: Duration::ZERO,
        incarnation: rolecall_core::Incarnation(1),
    });
    let mut out = Vec::new();
    let event = rolecall_core::store::Event::Request { session, id, request: zero };
    cluster.store.handle(cluster.now, event, &mut out);
    let refused = |output: &rolecall_core::store::Output| {
        matches!(output, rolecall_core::store::Output::Answered { answer: Answer::Refused(Refusal::Denied), .. })
    };
    assert!(out.iter().any(refused), "{out:?}");
}

/// A clock that steps takes a quarter of the lease at most, which nobody leads for.
#[test]
fn a_step_of_the_servers_clock_gives_no_two_leaders() {
    for millis in [2_000, 3_600_000, -2_000, -3_600_000] {
        let mut cluster = three();
        cluster.pause("a");
        cluster.fault(Fault::Step { millis });
        let (_, until) = cluster.hosts["a"].node.term().expect("it led");
        cluster.until("another led", |cluster| cluster.leaders().iter().any(|name| *name != "a"));
        assert!(until <= cluster.now, "a step by {millis} ms");
        cluster.resume("a");
        cluster.settle();
    }
}

/// At rest a waiter costs nothing but a look once in each lease.
#[test]
fn a_waiter_asks_once_in_each_lease() {
    let mut cluster = three();
    let asked = cluster.hosts["b"].asked.len();
    cluster.run(10 * TIMEOUT);
    let looks = cluster.hosts["b"].asked.len() - asked;
    assert!((9..=12).contains(&looks), "{looks} requests in ten leases");
}
