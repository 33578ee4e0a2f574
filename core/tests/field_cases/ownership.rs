//! A candidate counts only for the session that owns it.

use std::time::Duration;

use rolecall_core::store::{Act, Answer, Fault, QueueReply, QueueRequest, Reply, Request};
use rolecall_core::{Candidate, Event, Guid, Role, Session};

use crate::world::{LATENCY, TIMEOUT, World};
use crate::{leads, three};

// Q-B01, Q-B16 (a client library that replaces the session without reporting the loss)
#[test]
fn a_leader_whose_session_was_replaced_does_not_lead_on_its_old_candidate() {
    let mut world = three();
    let old = world.candidate_of("a");
    world.replace_session("a");
    world.run(20 * LATENCY);
    // The store has not removed the old candidate yet, or `a` has deleted it by its name; it leads in neither case.
    assert!(world.node("a").term().is_none());
    world.settle();
    assert!(leads(&world, "b"));
    assert!(world.queue().iter().all(|(candidate, _)| *candidate != old));
}

// Q-B01
#[test]
fn a_leader_whose_store_was_away_for_longer_than_its_session_enters_anew() {
    let mut world = three();
    for name in ["a", "b", "c"] {
        world.cut(name);
    }
    world.run(3 * TIMEOUT);
    assert!(world.leaders().is_empty());
    for name in ["a", "b", "c"] {
        world.heal(name);
    }
    world.settle();
    assert!(world.queue().iter().all(|(candidate, _)| candidate.sequence > 2), "nothing old was kept");
}

// Q-B04
#[test]
fn a_candidate_of_an_earlier_session_is_never_adopted() {
    let mut world = World::new();
    world.start("a");
    // The create is done, but its answer is held back until there is another session.
    world.host("a").holds = Some(|event| {
        matches!(event, Event::Answered { answer: Answer::Done(Reply::Queue(QueueReply::Entered(_))), .. })
    });
    world.until("entered", |world| !world.queue().is_empty());
    world.run(10 * LATENCY);
    let old = world.queue()[0].0;
    world.give_session_up("a");
    world.run(2 * LATENCY);
    world.release("a");
    world.settle();
    assert_ne!(world.candidate_of("a"), old);
    assert!(leads(&world, "a"));
}

// Q-B15
#[test]
fn a_restarted_node_does_not_take_its_former_candidate_or_entry_for_its_own() {
    let mut world = three();
    world.crash("a");
    world.start("a");
    world.run(TIMEOUT / 2);
    // The old candidate and the old entry, which carry its id, are still there.
    assert_eq!(world.queue()[0].0.sequence, 0);
    assert_eq!(world.role("a"), Role::None);
    world.settle();
    assert!(leads(&world, "b"));
    assert_eq!(world.role("a"), Role::Worker);
}

// Q-B16
#[test]
fn an_own_candidate_with_another_owner_means_that_the_session_is_lost() {
    let mut world = World::new();
    world.start("a");
    world.host("a").holds = Some(|event| {
        matches!(event, Event::Answered { answer: Answer::Done(Reply::Queue(QueueReply::Candidate { .. })), .. })
    });
    world.until("looked at its own", |world| {
        world.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Inspect { .. }))) == 1
    });
    let id = world.hosts["a"].newest(|ask| matches!(ask, Request::Queue(QueueRequest::Inspect { .. })));
    world.host("a").holds = None;
    world.fresh_trace();
    let answer = Answer::Done(Reply::Queue(QueueReply::Candidate { owner: Session(99), participant: "a".into() }));
    world.deliver("a", Event::Answered { id, answer });
    assert!(world.trace.text().contains("renew the session"), "{}", world.trace.text());
    world.settle();
}

// Q-B65
#[test]
fn what_was_meant_for_a_session_before_the_last_is_dropped() {
    let mut world = three();
    // Two new sessions before the first of them is handled.
    world.host("c").holds = Some(|_| true);
    world.expire("c");
    world.run(20 * LATENCY);
    world.expire("c");
    world.run(20 * LATENCY);
    world.release("c");
    world.settle();
    let session = world.node("c").session().expect("it is connected").0;
    assert_eq!(world.members(rolecall_core::Directory::Workers)[1].key.session, session);
}

// Q-B37
#[test]
fn a_leader_that_lapsed_and_finds_its_session_alive_claims_a_new_term_on_its_candidate() {
    let mut world = three();
    let (term, _) = world.node("a").term().expect("it leads");
    let candidate = world.candidate_of("a");
    // The answers to its heartbeats are lost, while pings keep its session alive.
    world.host("a").loses = Some(|request| matches!(request, Request::Queue(QueueRequest::Beat { .. })));
    world.until("lapsed", |world| world.node("a").term().is_none());
    world.host("a").loses = None;
    world.settle();
    assert!(leads(&world, "a"));
    assert_eq!(world.candidate_of("a"), candidate);
    let (again, _) = world.node("a").term().expect("it leads");
    assert!(again.is_newer_than(term), "a term that is resumed on a kept candidate has a new epoch");
}

// Q-B37 (its second half: a plain reconnect ran a whole election)
#[test]
fn a_plain_reconnect_runs_no_election() {
    let mut world = three();
    let (term, _) = world.node("a").term().expect("it leads");
    let writes = world.hosts["a"].writes();
    world.cut("a");
    world.run(100 * LATENCY);
    world.heal("a");
    world.run(Duration::from_secs(2));
    assert_eq!(world.node("a").term().map(|(fence, _)| fence), Some(term));
    assert_eq!(world.hosts["a"].writes(), writes);
    assert!(world.at_rest().is_ok());
}

// Q-B20
#[test]
fn an_old_candidate_whose_deletion_was_impossible_does_not_block_the_queue() {
    let mut world = three();
    world.give_session_up("a");
    world.host("a").loses = Some(|request| matches!(request, Request::Queue(QueueRequest::Delete { .. })));
    world.run(20 * LATENCY);
    world.cut("a");
    world.run(50 * LATENCY);
    world.host("a").loses = None;
    world.heal("a");
    world.settle();
    assert!(world.leaders().len() == 1);
}

// Q-B20
#[test]
fn what_an_earlier_session_left_in_the_queue_is_deleted_before_the_store_forgets_it() {
    let mut world = three();
    let old = world.candidate_of("a");
    world.give_session_up("a");
    world.run(TIMEOUT / 2);
    assert!(world.queue().iter().all(|(candidate, _)| *candidate != old));
    assert!(leads(&world, "b"));
}

// Q-B16, Q-B77 (the core's part: another ensemble answers with a new session)
#[test]
fn a_session_that_is_new_after_a_reconnect_is_as_good_as_expired() {
    let mut world = three();
    world.fault(Fault::Restart { keep_data: false });
    world.settle();
    let ids: Vec<u64> = world.queue().iter().map(|(_, owner)| owner.0).collect();
    assert!(ids.iter().all(|session| *session > 3));
}

// Q-B52: a spare candidate of this node appears, whatever its origin
#[test]
fn of_several_own_candidates_the_lowest_is_kept_and_the_rest_are_deleted() {
    let mut world = three();
    let own = world.candidate_of("b");
    let owner = world.node("b").session().expect("it is connected").0;
    let guid: Option<Guid> = own.guid;
    for _ in 0..2 {
        world.operator(Act::AddCandidate { guid, participant: "b".into(), owner });
    }
    // Nobody tells a waiter of that: it finds out at its next listing.
    world.run(Duration::from_secs(40));
    world.settle();
    let mine: Vec<Candidate> =
        world.queue().into_iter().filter(|(_, of)| *of == owner).map(|(candidate, _)| candidate).collect();
    assert_eq!(mine, [own]);
}
