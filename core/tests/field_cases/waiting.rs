//! Waiters watch their direct predecessor, look again when it goes, and give up nothing of their own.

use std::time::Duration;

use rolecall_core::store::{Answer, QueueRequest, Refusal, Request};
use rolecall_core::{Event, Role};

use crate::{leads, three};
use rolecall_core::testing::{Cluster, LATENCY};

// Q-B05
#[test]
fn a_waiter_whose_predecessor_goes_watches_the_one_before_it() {
    let mut cluster = Cluster::new();
    cluster.start_in_order(&["a", "b", "c", "d"]);
    cluster.crash("c");
    cluster.settle();
    assert!(leads(&cluster, "a"));
    cluster.crash("b");
    cluster.settle();
    assert!(leads(&cluster, "a"));
    cluster.crash("a");
    cluster.settle();
    assert!(leads(&cluster, "d"));
}

// Q-B05, P7: one departure wakes one waiter
#[test]
fn a_departure_in_the_middle_wakes_only_the_next_in_line() {
    let mut cluster = Cluster::new();
    cluster.start_in_order(&["a", "b", "c", "d"]);
    cluster.settle();
    let before: Vec<_> =
        ["a", "b", "d"].map(|name| cluster.hosts[name].count(|ask| *ask == Request::Queue(QueueRequest::List))).into();
    cluster.delete_candidate_of("c");
    cluster.run(20 * LATENCY);
    let after: Vec<_> =
        ["a", "b", "d"].map(|name| cluster.hosts[name].count(|ask| *ask == Request::Queue(QueueRequest::List))).into();
    assert_eq!((after[0] - before[0], after[1] - before[1], after[2] - before[2]), (0, 0, 1));
}

// Q-B27
#[test]
fn a_predecessor_that_is_gone_before_it_can_be_watched_costs_a_listing_and_no_own_candidate() {
    let mut cluster = three();
    let own = cluster.candidate_of("c");
    cluster.host("c").holds = Some(|event| matches!(event, Event::Answered { .. }));
    cluster.delete_candidate_of("b");
    cluster.run(3 * LATENCY);
    cluster.release("c");
    cluster.until("looked at a", |cluster| cluster.trace.text().contains("c  list: 0 2"));
    cluster.fresh_trace();
    // The new predecessor goes too, between the listing and the look at it.
    let id = cluster.hosts["c"].newest(|ask| matches!(ask, Request::Queue(QueueRequest::Inspect { .. })));
    cluster.deliver("c", Event::Answered { id, answer: Answer::Refused(Refusal::Missing) });
    assert!(cluster.trace.text().contains("missing -> list"), "{}", cluster.trace.text());
    cluster.settle();
    assert_eq!(cluster.candidate_of("c"), own);
}

// Q-B29
#[test]
fn a_waiter_whose_connection_flapped_within_its_session_watches_again() {
    let mut cluster = three();
    cluster.cut("b");
    cluster.run(10 * LATENCY);
    cluster.heal("b");
    cluster.run(20 * LATENCY);
    cluster.crash("a");
    cluster.settle();
    assert!(leads(&cluster, "b"));
}

// Q-B29 (its second half: whoever held leadership can stand again)
#[test]
fn a_leader_whose_session_ended_can_lead_again() {
    let mut cluster = Cluster::new();
    cluster.start_in_order(&["a"]);
    for _ in 0..3 {
        cluster.expire("a");
        cluster.run(5 * LATENCY);
        assert!(cluster.leaders().is_empty());
        cluster.settle();
        assert!(leads(&cluster, "a"));
    }
}

// Q-B30, Q-B69 (the core's part): notices are lost for ever
#[test]
fn a_waiter_whose_notices_are_lost_finds_out_by_looking_again_in_time() {
    let mut cluster = three();
    for name in ["b", "c"] {
        cluster.host(name).holds = Some(|event| matches!(event, Event::Noticed { .. }));
    }
    cluster.crash("a");
    cluster.run(Duration::from_secs(40));
    assert!(leads(&cluster, "b"), "{}", cluster.trace.text());
    assert_eq!(cluster.role("c"), Role::Worker);
}

// Q-B28
#[test]
fn while_a_create_is_in_flight_notices_only_mark_and_nothing_is_created_again() {
    let mut cluster = three();
    cluster.expire("b");
    cluster.host("b").holds = Some(|event| {
        matches!(
            event,
            Event::Answered {
                answer: Answer::Done(rolecall_core::store::Reply::Queue(rolecall_core::store::QueueReply::Entered(_))),
                ..
            }
        )
    });
    cluster.run(30 * LATENCY);
    for name in ["a", "c", "a"] {
        cluster.delete_candidate_of(name);
        cluster.run(200 * LATENCY);
    }
    cluster.release("b");
    cluster.settle();
    let creates = cluster.hosts["b"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Enter { .. })));
    // Its first candidate, the one in flight, and at most one for each time that the create was overdue.
    assert!(creates <= 4, "{creates} creates");
}

// Q-R3
#[test]
fn a_create_of_unknown_outcome_is_looked_for_only_after_a_sync() {
    let mut cluster = Cluster::with_servers(2);
    cluster.start_in_order(&["x"]);
    cluster.start("a");
    cluster.host("a").server = rolecall_core::store::Server(1);
    cluster.host("a").loses = Some(|request| matches!(request, Request::Queue(QueueRequest::Enter { .. })));
    cluster.until("asked to enter", |cluster| {
        cluster.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Enter { .. }))) == 1
    });
    cluster.run(5 * LATENCY);
    cluster.fault(rolecall_core::store::Fault::Lag(rolecall_core::store::Server(1)));
    cluster.until("asked after it", |cluster| {
        cluster.hosts["a"].count(|ask| *ask == Request::Queue(QueueRequest::List)) >= 1
    });
    let asked: Vec<_> = cluster.hosts["a"].asked.iter().map(|(_, request)| request).collect();
    let sync = asked.iter().position(|ask| **ask == Request::Sync).expect("it syncs");
    let list = asked.iter().rposition(|ask| **ask == Request::Queue(QueueRequest::List)).expect("it lists");
    assert!(sync < list);
    cluster.host("a").loses = None;
    cluster.settle();
    assert_eq!(
        cluster.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Enter { .. }))),
        1,
        "it found what it had made"
    );
}
