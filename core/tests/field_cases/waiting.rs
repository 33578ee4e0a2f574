//! Waiters watch their direct predecessor, look again when it goes, and give up nothing of their own.

use std::time::Duration;

use rolecall_core::store::{Answer, QueueRequest, Refusal, Request};
use rolecall_core::{Event, Role};

use crate::world::{LATENCY, World};
use crate::{leads, three};

// Q-B05
#[test]
fn a_waiter_whose_predecessor_goes_watches_the_one_before_it() {
    let mut world = World::new();
    world.start_in_order(&["a", "b", "c", "d"]);
    world.crash("c");
    world.settle();
    assert!(leads(&world, "a"));
    world.crash("b");
    world.settle();
    assert!(leads(&world, "a"));
    world.crash("a");
    world.settle();
    assert!(leads(&world, "d"));
}

// Q-B05, P7: one departure wakes one waiter
#[test]
fn a_departure_in_the_middle_wakes_only_the_next_in_line() {
    let mut world = World::new();
    world.start_in_order(&["a", "b", "c", "d"]);
    world.settle();
    let before: Vec<_> =
        ["a", "b", "d"].map(|name| world.hosts[name].count(|ask| *ask == Request::Queue(QueueRequest::List))).into();
    world.delete_candidate_of("c");
    world.run(20 * LATENCY);
    let after: Vec<_> =
        ["a", "b", "d"].map(|name| world.hosts[name].count(|ask| *ask == Request::Queue(QueueRequest::List))).into();
    assert_eq!((after[0] - before[0], after[1] - before[1], after[2] - before[2]), (0, 0, 1));
}

// Q-B27
#[test]
fn a_predecessor_that_is_gone_before_it_can_be_watched_costs_a_listing_and_no_own_candidate() {
    let mut world = three();
    let own = world.candidate_of("c");
    world.host("c").holds = Some(|event| matches!(event, Event::Answered { .. }));
    world.delete_candidate_of("b");
    world.run(3 * LATENCY);
    world.release("c");
    world.until("looked at a", |world| world.trace.text().contains("c  list: 0 2"));
    world.fresh_trace();
    // The new predecessor goes too, between the listing and the look at it.
    let id = world.hosts["c"].newest(|ask| matches!(ask, Request::Queue(QueueRequest::Inspect { .. })));
    world.deliver("c", Event::Answered { id, answer: Answer::Refused(Refusal::Missing) });
    assert!(world.trace.text().contains("missing -> list"), "{}", world.trace.text());
    world.settle();
    assert_eq!(world.candidate_of("c"), own);
}

// Q-B29
#[test]
fn a_waiter_whose_connection_flapped_within_its_session_watches_again() {
    let mut world = three();
    world.cut("b");
    world.run(10 * LATENCY);
    world.heal("b");
    world.run(20 * LATENCY);
    world.crash("a");
    world.settle();
    assert!(leads(&world, "b"));
}

// Q-B29 (its second half: whoever held leadership can stand again)
#[test]
fn a_leader_whose_session_ended_can_lead_again() {
    let mut world = World::new();
    world.start_in_order(&["a"]);
    for _ in 0..3 {
        world.expire("a");
        world.run(5 * LATENCY);
        assert!(world.leaders().is_empty());
        world.settle();
        assert!(leads(&world, "a"));
    }
}

// Q-B30, Q-B69 (the core's part): notices are lost for ever
#[test]
fn a_waiter_whose_notices_are_lost_finds_out_by_looking_again_in_time() {
    let mut world = three();
    for name in ["b", "c"] {
        world.host(name).holds = Some(|event| matches!(event, Event::Noticed { .. }));
    }
    world.crash("a");
    world.run(Duration::from_secs(40));
    assert!(leads(&world, "b"), "{}", world.trace.text());
    assert_eq!(world.role("c"), Role::Worker);
}

// Q-B28
#[test]
fn while_a_create_is_in_flight_notices_only_mark_and_nothing_is_created_again() {
    let mut world = three();
    world.expire("b");
    world.host("b").holds = Some(|event| {
        matches!(
            event,
            Event::Answered {
                answer: Answer::Done(rolecall_core::store::Reply::Queue(rolecall_core::store::QueueReply::Entered(_))),
                ..
            }
        )
    });
    world.run(30 * LATENCY);
    for name in ["a", "c", "a"] {
        world.delete_candidate_of(name);
        world.run(200 * LATENCY);
    }
    world.release("b");
    world.settle();
    let creates = world.hosts["b"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Enter { .. })));
    // Its first candidate, the one in flight, and at most one for each time that the create was overdue.
    assert!(creates <= 4, "{creates} creates");
}

// Q-R3
#[test]
fn a_create_of_unknown_outcome_is_looked_for_only_after_a_sync() {
    let mut world = World::with_servers(2);
    world.start_in_order(&["x"]);
    world.start("a");
    world.host("a").server = rolecall_core::store::Server(1);
    world.host("a").loses = Some(|request| matches!(request, Request::Queue(QueueRequest::Enter { .. })));
    world.until("asked to enter", |world| {
        world.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Enter { .. }))) == 1
    });
    world.run(5 * LATENCY);
    world.fault(rolecall_core::store::Fault::Lag(rolecall_core::store::Server(1)));
    world
        .until("asked after it", |world| world.hosts["a"].count(|ask| *ask == Request::Queue(QueueRequest::List)) >= 1);
    let asked: Vec<_> = world.hosts["a"].asked.iter().map(|(_, request)| request).collect();
    let sync = asked.iter().position(|ask| **ask == Request::Sync).expect("it syncs");
    let list = asked.iter().rposition(|ask| **ask == Request::Queue(QueueRequest::List)).expect("it lists");
    assert!(sync < list);
    world.host("a").loses = None;
    world.settle();
    assert_eq!(
        world.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Enter { .. }))),
        1,
        "it found what it had made"
    );
}
