//! Registries say what is wanted now, survive unreadable entries, and are read again after every loss.

use std::time::Duration;

use rolecall_core::Directory::{Coordinators, Workers};
use rolecall_core::store::{Act, Answer, DirectoryReply, DirectoryRequest, QueueRequest, Refusal, Reply, Request};
use rolecall_core::{Event, MemberKey, Role, Session};

use crate::three;
use crate::world::{LATENCY, TIMEOUT, World};

fn is_join(request: &Request) -> bool {
    matches!(request, Request::Directory(DirectoryRequest::Join { .. }))
}

fn is_leave(request: &Request) -> bool {
    matches!(request, Request::Directory(DirectoryRequest::Leave { .. }))
}

// Q-B31
#[test]
fn an_entry_that_its_own_former_session_left_is_neither_taken_for_its_own_nor_in_its_way() {
    let mut world = three();
    let former = world.node("b").session().expect("it is connected").0;
    world.replace_session("b");
    world.until("joined", |world| world.hosts["b"].count(is_join) == 2);
    world.settle();
    let entries = world.members(Workers);
    assert!(entries.iter().all(|member| member.key.session != former));
    assert_eq!(entries.iter().filter(|member| &*member.key.id == "b").count(), 1);
}

// Q-B31: a join with a lost answer finds its own entry
#[test]
fn a_join_of_unknown_outcome_adopts_what_it_made() {
    let mut world = World::new();
    world.start_in_order(&["a"]);
    world.start("b");
    world.host("b").loses = Some(is_join);
    world.until("joined", |world| world.listed(Workers) == ["b"]);
    world.cut("b");
    world.host("b").loses = None;
    world.heal("b");
    world.settle();
    assert_eq!(world.hosts["b"].count(is_join), 1);
}

// Q-B31: another owner has taken the name
#[test]
fn an_entry_of_this_name_that_another_owns_does_not_count_as_registered() {
    let mut world = World::new();
    world.start_in_order(&["a"]);
    let taken = MemberKey { id: "b".into(), session: Session(2) };
    world.operator(Act::AddMember {
        directory: Workers,
        key: taken,
        address: "elsewhere:1".into(),
        epoch: None,
        owner: Session(0),
    });
    world.start("b");
    world.settle();
    let entries = world.members(Workers);
    let owner = world.node("b").session().expect("it is connected").0;
    assert!(entries.iter().any(|member| member.key.session == owner), "{entries:?}");
}

// Q-B35
#[test]
fn a_leader_that_was_away_for_less_than_its_session_reads_the_registry_anew() {
    let mut world = three();
    world.cut("a");
    world.crash("c");
    world.deliver("b", Event::Shutdown);
    world.run(200 * LATENCY);
    world.heal("a");
    world.run(20 * LATENCY);
    assert_eq!(world.role("a"), Role::Leader);
    assert!(world.node("a").workers().iter().all(|member| &*member.key.id != "b"));
}

// Q-B55
#[test]
fn a_reconnect_during_an_unregistration_does_not_register_again() {
    let mut world = three();
    world.host("b").loses = Some(is_leave);
    world.deliver("b", Event::Shutdown);
    world.until("asked to leave", |world| world.hosts["b"].count(is_leave) == 1);
    world.cut("b");
    world.host("b").loses = None;
    world.heal("b");
    world.run(TIMEOUT);
    assert_eq!(world.hosts["b"].count(is_join), 1);
    assert_eq!(world.listed(Workers), ["c"]);
}

// Q-B56
#[test]
fn an_entry_says_the_present_term_after_a_reconnect() {
    let mut world = three();
    world.host("a").loses = Some(|request| matches!(request, Request::Queue(QueueRequest::Beat { .. })));
    world.until("lapsed", |world| world.node("a").term().is_none());
    world.host("a").loses = None;
    world.cut("a");
    world.run(10 * LATENCY);
    world.heal("a");
    world.settle();
    let leader = world.leaders()[0];
    let (term, _) = world.node(leader).term().expect("it leads");
    assert_eq!(world.members(Coordinators)[0].epoch, Some(term.epoch));
}

// Q-B58
#[test]
fn leaving_is_not_taken_for_done_until_it_is_confirmed() {
    let mut world = three();
    world.host("b").holds = Some(|event| {
        matches!(
            event,
            Event::Answered {
                answer: Answer::Done(Reply::Directory(DirectoryReply::Left)) | Answer::Refused(Refusal::Missing),
                ..
            }
        )
    });
    world.deliver("b", Event::Shutdown);
    world.run(TIMEOUT);
    world.host("b").holds = None;
    world.until("ended", |world| world.hosts["b"].outcome == crate::world::Outcome::Exited);
    assert!(world.hosts["b"].count(|ask| *ask == Request::Sync) >= 1, "it made sure of what nobody confirmed");
    assert_eq!(world.listed(Workers), ["c"]);
}

// Q-B59
#[test]
fn refusals_and_flapping_start_no_chains_of_retries() {
    let mut world = three();
    world.host("b").loses = Some(is_join);
    world.expire("b");
    let before = world.hosts["b"].writes();
    let flaps = 30;
    for _ in 0..flaps {
        world.cut("b");
        world.run(20 * LATENCY);
        world.heal("b");
        world.run(20 * LATENCY);
    }
    world.host("b").loses = None;
    world.settle();
    let writes = world.hosts["b"].writes() - before;
    assert!(writes <= 2 * flaps, "{writes} writes for {flaps} flaps");
}

// Q-B62
#[test]
fn one_malformed_entry_is_skipped_and_counted_and_the_others_go_on() {
    let mut world = three();
    world.operator(Act::LitterDirectory(Workers));
    world.operator(Act::LitterDirectory(Coordinators));
    world.operator(Act::LitterQueue);
    world.start("d");
    world.settle();
    assert_eq!(world.node("a").skipped().1, 2);
    assert_eq!(world.node("d").skipped().0, 1);
    assert_eq!(world.node("a").workers().len(), 3);
}

// Q-B64
#[test]
fn a_plain_reconnect_writes_nothing_to_the_registries() {
    let mut world = three();
    let created: Vec<u64> = world.members(Workers).iter().map(|member| member.created).collect();
    for name in ["a", "b", "c"] {
        world.cut(name);
        world.run(50 * LATENCY);
        world.heal(name);
        world.run(50 * LATENCY);
    }
    assert!(world.at_rest().is_ok());
    assert_eq!(world.members(Workers).iter().map(|member| member.created).collect::<Vec<_>>(), created);
    assert!(!world.trace.text().contains("workers -"), "nobody saw anybody leave");
}

// Q-B08, for a registry: an operator deletes an entry
#[test]
fn an_entry_that_an_operator_deletes_is_made_again() {
    let mut world = three();
    for directory in [Workers, Coordinators] {
        let key = world.members(directory)[0].key.clone();
        world.operator(Act::DeleteMember { directory, key });
        world.run(Duration::from_millis(50));
        assert!(world.at_rest().is_ok(), "{:?}", world.at_rest());
    }
}
