//! After a request to stop, nothing is created, everything is removed, and the node ends.

use std::time::Duration;

use rolecall_core::Directory::{Coordinators, Workers};
use rolecall_core::Event;
use rolecall_core::store::{Answer, QueueReply, QueueRequest, Reply, Request};

use crate::world::{LATENCY, Outcome, TIMEOUT, World};
use crate::{leads, three};

fn has_ended(world: &World, name: &str) -> bool {
    world.hosts[name].outcome == Outcome::Exited
}

// Q-B44
#[test]
fn a_create_that_was_in_flight_when_the_stop_came_ends_deleted() {
    // The stop comes at each moment of the start in turn.
    for millis in 1..30 {
        let mut world = World::new();
        world.start("a");
        world.run(Duration::from_millis(millis));
        world.deliver("a", Event::Shutdown);
        world.until("ended", |world| has_ended(world, "a"));
        world.run(5 * LATENCY);
        assert!(world.queue().is_empty() && world.members(Workers).is_empty(), "at {millis} ms");
        assert!(world.members(Coordinators).is_empty(), "at {millis} ms");
    }
}

// Q-B44: the answer never comes
#[test]
fn a_create_whose_answer_is_lost_is_looked_for_and_deleted_before_the_end() {
    let mut world = World::new();
    world.start("a");
    world.host("a").loses = Some(|request| matches!(request, Request::Queue(QueueRequest::Enter { .. })));
    world.until("entered", |world| !world.queue().is_empty());
    world.deliver("a", Event::Shutdown);
    world.until("ended", |world| has_ended(world, "a"));
    assert!(world.queue().is_empty());
    assert_eq!(world.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Delete { .. }))), 1);
}

// Q-B45
#[test]
fn a_notice_that_comes_after_the_stop_creates_nothing() {
    let mut world = three();
    world.deliver("b", Event::Shutdown);
    world.crash("a");
    world.run(3 * TIMEOUT);
    assert!(has_ended(&world, "b"));
    assert_eq!(world.hosts["b"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Enter { .. }))), 1);
    assert!(leads(&world, "c"));
}

// Q-B73 (the core's part: the order, and the limit over all of it)
#[test]
fn the_candidate_and_the_entries_go_before_the_session_is_closed() {
    let mut world = three();
    world.deliver("a", Event::Shutdown);
    world.until("ended", |world| has_ended(world, "a"));
    let text = world.trace.text();
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in\n{text}"));
    assert!(place("a  asked to end -> leave coordinators, stop service 1") < place("delete candidate 0"));
    assert!(place("delete candidate 0: done") < place("close the session"));
    world.settle_without("a");
    assert!(leads(&world, "b"));
}

// Q-B73, Q-B38
#[test]
fn a_store_that_does_not_answer_holds_a_shutdown_up_to_its_limit_only() {
    let mut world = three();
    world.host("a").holds = Some(|event| {
        matches!(event, Event::Answered { answer: Answer::Done(Reply::Queue(QueueReply::Deleted) | Reply::Synced), .. })
    });
    world.deliver("a", Event::Shutdown);
    let limit = world.now + world.node("a").config().shutdown_limit;
    world.until("ended", |world| has_ended(world, "a"));
    assert_eq!(world.now, limit);
}

// Q-B76
#[test]
fn a_leader_that_ends_stops_its_service_once() {
    let mut world = three();
    world.deliver("a", Event::Shutdown);
    world.deliver("a", Event::Shutdown);
    world.until("ended", |world| has_ended(world, "a"));
    assert_eq!(world.trace.text().matches("a  asked to end -> leave coordinators, stop service 1").count(), 1);
    assert_eq!(world.trace.text().matches("stop service 1").count(), 1);
}
