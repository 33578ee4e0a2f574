//! A candidate counts only for the session that owns it.

use std::time::Duration;

use rolecall_core::store::{Act, Answer, Fault, QueueReply, QueueRequest, Reply, Request};
use rolecall_core::{Candidate, Event, Guid, Role, Session};

use crate::{leads, three};
use rolecall_core::testing::{Cluster, LATENCY, TIMEOUT};

// Q-B01, Q-B16 (a client library that replaces the session without reporting the loss)
#[test]
fn a_leader_whose_session_was_replaced_does_not_lead_on_its_old_candidate() {
    let mut cluster = three();
    let old = cluster.candidate_of("a");
    cluster.replace_session("a");
    cluster.run(20 * LATENCY);
    // The store has not removed the old candidate yet, or `a` has deleted it by its name; it leads in neither case.
    assert!(cluster.node("a").term().is_none());
    cluster.settle();
    assert!(leads(&cluster, "b"));
    assert!(cluster.queue().iter().all(|(candidate, _)| *candidate != old));
}

// Q-B01
#[test]
fn a_leader_whose_store_was_away_for_longer_than_its_session_enters_anew() {
    let mut cluster = three();
    for name in ["a", "b", "c"] {
        cluster.cut(name);
    }
    cluster.run(3 * TIMEOUT);
    assert!(cluster.leaders().is_empty());
    for name in ["a", "b", "c"] {
        cluster.heal(name);
    }
    cluster.settle();
    assert!(cluster.queue().iter().all(|(candidate, _)| candidate.sequence > 2), "nothing old was kept");
}

// Q-B04
#[test]
fn a_candidate_of_an_earlier_session_is_never_adopted() {
    let mut cluster = Cluster::new();
    cluster.start("a");
    // The create is done, but its answer is held back until there is another session.
    cluster.host("a").holds = Some(|event| {
        matches!(event, Event::Answered { answer: Answer::Done(Reply::Queue(QueueReply::Entered(_))), .. })
    });
    cluster.until("entered", |cluster| !cluster.queue().is_empty());
    cluster.run(10 * LATENCY);
    let old = cluster.queue()[0].0;
    cluster.give_session_up("a");
    cluster.run(2 * LATENCY);
    cluster.release("a");
    cluster.settle();
    assert_ne!(cluster.candidate_of("a"), old);
    assert!(leads(&cluster, "a"));
}

// Q-B15
#[test]
fn a_restarted_node_does_not_take_its_former_candidate_or_entry_for_its_own() {
    let mut cluster = three();
    cluster.crash("a");
    cluster.start("a");
    cluster.run(TIMEOUT / 2);
    // The old candidate and the old entry, which carry its id, are still there.
    assert_eq!(cluster.queue()[0].0.sequence, 0);
    assert_eq!(cluster.role("a"), Role::None);
    cluster.settle();
    assert!(leads(&cluster, "b"));
    assert_eq!(cluster.role("a"), Role::Worker);
}

// Q-B16
#[test]
fn an_own_candidate_with_another_owner_means_that_the_session_is_lost() {
    let mut cluster = Cluster::new();
    cluster.start("a");
    cluster.host("a").holds = Some(|event| {
        matches!(event, Event::Answered { answer: Answer::Done(Reply::Queue(QueueReply::Candidate { .. })), .. })
    });
    cluster.until("looked at its own", |cluster| {
        cluster.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Inspect { .. }))) == 1
    });
    let id = cluster.hosts["a"].newest(|ask| matches!(ask, Request::Queue(QueueRequest::Inspect { .. })));
    cluster.host("a").holds = None;
    cluster.fresh_trace();
    let answer = Answer::Done(Reply::Queue(QueueReply::Candidate { owner: Session(99), participant: "a".into() }));
    cluster.deliver("a", Event::Answered { id, answer });
    assert!(cluster.trace.text().contains("renew the session"), "{}", cluster.trace.text());
    cluster.settle();
}

// Q-B65
#[test]
fn what_was_meant_for_a_session_before_the_last_is_dropped() {
    let mut cluster = three();
    // Two new sessions before the first of them is handled.
    cluster.host("c").holds = Some(|_| true);
    cluster.expire("c");
    cluster.run(20 * LATENCY);
    cluster.expire("c");
    cluster.run(20 * LATENCY);
    cluster.release("c");
    cluster.settle();
    let session = cluster.node("c").session().expect("it is connected").0;
    assert_eq!(cluster.members(rolecall_core::Directory::Workers)[1].key.session, session);
}

// Q-B37
#[test]
fn a_leader_that_lapsed_and_finds_its_session_alive_claims_a_new_term_on_its_candidate() {
    let mut cluster = three();
    let (term, _) = cluster.node("a").term().expect("it leads");
    let candidate = cluster.candidate_of("a");
    // The answers to its heartbeats are lost, while pings keep its session alive.
    cluster.host("a").loses = Some(|request| matches!(request, Request::Queue(QueueRequest::Beat { .. })));
    cluster.until("lapsed", |cluster| cluster.node("a").term().is_none());
    cluster.host("a").loses = None;
    cluster.settle();
    assert!(leads(&cluster, "a"));
    assert_eq!(cluster.candidate_of("a"), candidate);
    let (again, _) = cluster.node("a").term().expect("it leads");
    assert!(again.is_newer_than(term), "a term that is resumed on a kept candidate has a new epoch");
}

// Q-B37 (its second half: a plain reconnect ran a whole election)
#[test]
fn a_plain_reconnect_runs_no_election() {
    let mut cluster = three();
    let (term, _) = cluster.node("a").term().expect("it leads");
    let writes = cluster.hosts["a"].writes();
    cluster.cut("a");
    cluster.run(100 * LATENCY);
    cluster.heal("a");
    cluster.run(Duration::from_secs(2));
    assert_eq!(cluster.node("a").term().map(|(fence, _)| fence), Some(term));
    assert_eq!(cluster.hosts["a"].writes(), writes);
    assert!(cluster.at_rest().is_ok());
}

// Q-B20
#[test]
fn an_old_candidate_whose_deletion_was_impossible_does_not_block_the_queue() {
    let mut cluster = three();
    cluster.give_session_up("a");
    cluster.host("a").loses = Some(|request| matches!(request, Request::Queue(QueueRequest::Delete { .. })));
    cluster.run(20 * LATENCY);
    cluster.cut("a");
    cluster.run(50 * LATENCY);
    cluster.host("a").loses = None;
    cluster.heal("a");
    cluster.settle();
    assert!(cluster.leaders().len() == 1);
}

// Q-B20
#[test]
fn what_an_earlier_session_left_in_the_queue_is_deleted_before_the_store_forgets_it() {
    let mut cluster = three();
    let old = cluster.candidate_of("a");
    cluster.give_session_up("a");
    cluster.run(TIMEOUT / 2);
    assert!(cluster.queue().iter().all(|(candidate, _)| *candidate != old));
    assert!(leads(&cluster, "b"));
}

// Q-B16, Q-B77 (the core's part: another ensemble answers with a new session)
#[test]
fn a_session_that_is_new_after_a_reconnect_is_as_good_as_expired() {
    let mut cluster = three();
    cluster.fault(Fault::Restart { keep_data: false });
    cluster.settle();
    let ids: Vec<u64> = cluster.queue().iter().map(|(_, owner)| owner.0).collect();
    assert!(ids.iter().all(|session| *session > 3));
}

// Q-B52: a spare candidate of this node appears, whatever its origin
#[test]
fn of_several_own_candidates_the_lowest_is_kept_and_the_rest_are_deleted() {
    let mut cluster = three();
    let own = cluster.candidate_of("b");
    let owner = cluster.node("b").session().expect("it is connected").0;
    let guid: Option<Guid> = own.guid;
    for _ in 0..2 {
        cluster.operator(Act::AddCandidate { guid, participant: "b".into(), owner });
    }
    // Nobody tells a waiter of that: it finds out at its next listing.
    cluster.run(Duration::from_secs(40));
    cluster.settle();
    let mine: Vec<Candidate> =
        cluster.queue().into_iter().filter(|(_, of)| *of == owner).map(|(candidate, _)| candidate).collect();
    assert_eq!(mine, [own]);
}
