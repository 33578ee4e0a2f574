//! Creates whose answers are lost, late, or come after everything has changed.

use rolecall_core::store::{Answer, QueueReply, QueueRequest, Reply, Request};
use rolecall_core::{Event, Role};

use crate::leads;
use crate::world::{LATENCY, TIMEOUT, World};

fn is_enter(request: &Request) -> bool {
    matches!(request, Request::Queue(QueueRequest::Enter { .. }))
}

fn is_entered(event: &Event) -> bool {
    matches!(event, Event::Answered { answer: Answer::Done(Reply::Queue(QueueReply::Entered(_))), .. })
}

/// A world with a node whose answer to its create is held back.
fn entering() -> World {
    let mut world = World::new();
    world.start("a");
    world.host("a").holds = Some(is_entered);
    world.until("entered", |world| !world.queue().is_empty());
    world.run(5 * LATENCY);
    world
}

// Q-B43
#[test]
fn a_create_whose_answer_was_lost_with_the_connection_is_adopted_not_repeated() {
    let mut world = World::new();
    world.start("a");
    world.host("a").loses = Some(is_enter);
    world.until("entered", |world| !world.queue().is_empty());
    world.cut("a");
    world.host("a").loses = None;
    world.heal("a");
    world.settle();
    assert_eq!(world.hosts["a"].count(is_enter), 1);
    assert!(leads(&world, "a"));
}

// Q-B43, without a loss of the connection: the answer never comes
#[test]
fn a_create_that_is_not_answered_in_time_is_looked_for() {
    let mut world = World::new();
    world.start("a");
    world.host("a").loses = Some(is_enter);
    world.settle();
    assert_eq!(world.hosts["a"].count(is_enter), 1);
}

// Q-B52, Q-B02
#[test]
fn a_late_answer_to_an_old_create_joins_the_own_candidates() {
    let mut world = entering();
    world.run(TIMEOUT);
    // By now the node has found its candidate by name; the answer changes nothing when it comes at last.
    let before = world.node("a").clone();
    assert_eq!(world.role("a"), Role::Leader);
    world.fresh_trace();
    world.release("a");
    assert_eq!(before.term().map(|(fence, _)| fence), world.node("a").term().map(|(fence, _)| fence));
    world.settle();
    assert_eq!(world.queue().len(), 1);
}

// Q-B02
#[test]
fn two_reports_of_the_same_connection_cause_one_reset_and_no_second_create() {
    let mut world = World::new();
    world.start_in_order(&["a", "b"]);
    world.settle();
    let (session, _) = world.node("a").session().expect("it is connected");
    let writes = world.hosts["a"].writes();
    for _ in 0..3 {
        world.deliver("a", Event::SessionUp { session, timeout: TIMEOUT, entropy: 7 });
        world.run(LATENCY);
    }
    world.settle();
    assert!(leads(&world, "a"));
    assert_eq!(world.hosts["a"].writes(), writes);
}

// Q-B02: an answer to a request of an earlier connection
#[test]
fn an_answer_of_an_earlier_connection_changes_nothing() {
    let mut world = World::new();
    world.start_in_order(&["a", "b"]);
    world.settle();
    let id = world.hosts["b"].newest(|request| *request == Request::Queue(QueueRequest::List));
    world.cut("b");
    world.heal("b");
    world.settle();
    let before = world.node("b").clone();
    let empty = Answer::Done(Reply::Queue(QueueReply::Candidates { candidates: Vec::new(), skipped: 0 }));
    world.deliver("b", Event::Answered { id, answer: empty });
    assert_eq!(*world.node("b"), before);
}

// Q-B22
#[test]
fn a_shutdown_between_a_create_and_its_answer_leaves_no_orphan() {
    let mut world = entering();
    world.deliver("a", Event::Shutdown);
    world.run(10 * LATENCY);
    world.release("a");
    world.until("ended", |world| world.hosts["a"].outcome == crate::world::Outcome::Exited);
    world.run(5 * LATENCY);
    assert!(world.queue().is_empty());
}

// Q-B04 (the late answer that overwrote the good candidate)
#[test]
fn a_late_answer_of_an_earlier_session_does_not_replace_the_present_candidate() {
    let mut world = entering();
    world.expire("a");
    world.until("entered again", |world| world.hosts["a"].count(is_enter) == 2);
    world.run(5 * LATENCY);
    let present = world.candidate_of("a");
    world.release("a");
    world.settle();
    assert_eq!(world.candidate_of("a"), present);
}

// Q-B28: 2.6 million znodes in two hours
#[test]
fn a_store_that_shows_no_candidate_which_it_has_confirmed_is_asked_ever_more_slowly() {
    let mut world = World::new();
    world.start("a");
    let begun = world.now;
    while world.now < begun + 20 * TIMEOUT {
        world.run(LATENCY / 2);
        if !world.queue().is_empty() {
            // An operator deletes it before its node can list.
            world.delete_candidate_of("a");
        }
    }
    let enters = world.hosts["a"].count(is_enter);
    assert!((3..20).contains(&enters), "{enters} candidates in {:?}", 20 * TIMEOUT);

    world.settle();
    assert!(leads(&world, "a"), "it goes on once it is left alone");
}
