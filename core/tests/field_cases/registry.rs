//! Registries say what is wanted now, survive unreadable entries, and are read again after every loss.

use std::time::Duration;

use rolecall_core::Directory::{Coordinators, Workers};
use rolecall_core::store::{Act, Answer, DirectoryReply, DirectoryRequest, QueueRequest, Refusal, Reply, Request};
use rolecall_core::{Event, MemberKey, Role, Session};

use crate::three;
use rolecall_core::testing::{Cluster, LATENCY, TIMEOUT};

fn is_join(request: &Request) -> bool {
    matches!(request, Request::Directory(DirectoryRequest::Join { .. }))
}

fn is_leave(request: &Request) -> bool {
    matches!(request, Request::Directory(DirectoryRequest::Leave { .. }))
}

// Q-B31
#[test]
fn an_entry_that_its_own_former_session_left_is_neither_taken_for_its_own_nor_in_its_way() {
    let mut cluster = three();
    let former = cluster.node("b").session().expect("it is connected").0;
    cluster.replace_session("b");
    cluster.until("joined", |cluster| cluster.hosts["b"].count(is_join) == 2);
    cluster.settle();
    let entries = cluster.members(Workers);
    assert!(entries.iter().all(|member| member.key.session != former));
    assert_eq!(entries.iter().filter(|member| &*member.key.id == "b").count(), 1);
}

// Q-B31: a join with a lost answer finds its own entry
#[test]
fn a_join_of_unknown_outcome_adopts_what_it_made() {
    let mut cluster = Cluster::new();
    cluster.start_in_order(&["a"]);
    cluster.start("b");
    cluster.host("b").loses = Some(is_join);
    cluster.until("joined", |cluster| cluster.listed(Workers) == ["b"]);
    cluster.cut("b");
    cluster.host("b").loses = None;
    cluster.heal("b");
    cluster.settle();
    assert_eq!(cluster.hosts["b"].count(is_join), 1);
}

// Q-B31: another owner has taken the name
#[test]
fn an_entry_of_this_name_that_another_owns_does_not_count_as_registered() {
    let mut cluster = Cluster::new();
    cluster.start_in_order(&["a"]);
    let taken = MemberKey { id: "b".into(), session: Session(2) };
    cluster.operator(Act::AddMember {
        directory: Workers,
        key: taken,
        address: "elsewhere:1".into(),
        epoch: None,
        owner: Session(0),
    });
    cluster.start("b");
    cluster.settle();
    let entries = cluster.members(Workers);
    let owner = cluster.node("b").session().expect("it is connected").0;
    assert!(entries.iter().any(|member| member.key.session == owner), "{entries:?}");
}

// Q-B35
#[test]
fn a_leader_that_was_away_for_less_than_its_session_reads_the_registry_anew() {
    let mut cluster = three();
    cluster.cut("a");
    cluster.crash("c");
    cluster.deliver("b", Event::Shutdown);
    cluster.run(200 * LATENCY);
    cluster.heal("a");
    cluster.run(20 * LATENCY);
    assert_eq!(cluster.role("a"), Role::Leader);
    assert!(cluster.node("a").workers().iter().all(|member| &*member.key.id != "b"));
}

// Q-B55
#[test]
fn a_reconnect_during_an_unregistration_does_not_register_again() {
    let mut cluster = three();
    cluster.host("b").loses = Some(is_leave);
    cluster.deliver("b", Event::Shutdown);
    cluster.until("asked to leave", |cluster| cluster.hosts["b"].count(is_leave) == 1);
    cluster.cut("b");
    cluster.host("b").loses = None;
    cluster.heal("b");
    cluster.run(TIMEOUT);
    assert_eq!(cluster.hosts["b"].count(is_join), 1);
    assert_eq!(cluster.listed(Workers), ["c"]);
}

// Q-B56
#[test]
fn an_entry_says_the_present_term_after_a_reconnect() {
    let mut cluster = three();
    cluster.host("a").loses = Some(|request| matches!(request, Request::Queue(QueueRequest::Beat { .. })));
    cluster.until("lapsed", |cluster| cluster.node("a").term().is_none());
    cluster.host("a").loses = None;
    cluster.cut("a");
    cluster.run(10 * LATENCY);
    cluster.heal("a");
    cluster.settle();
    let leader = cluster.leaders()[0];
    let (term, _) = cluster.node(leader).term().expect("it leads");
    assert_eq!(cluster.members(Coordinators)[0].epoch, Some(term.epoch));
}

// Q-B58
#[test]
fn leaving_is_not_taken_for_done_until_it_is_confirmed() {
    let mut cluster = three();
    cluster.host("b").holds = Some(|event| {
        matches!(
            event,
            Event::Answered {
                answer: Answer::Done(Reply::Directory(DirectoryReply::Left)) | Answer::Refused(Refusal::Missing),
                ..
            }
        )
    });
    cluster.deliver("b", Event::Shutdown);
    cluster.run(TIMEOUT);
    cluster.host("b").holds = None;
    cluster.until("ended", |cluster| cluster.hosts["b"].outcome == rolecall_core::testing::Outcome::Exited);
    assert!(cluster.hosts["b"].count(|ask| *ask == Request::Sync) >= 1, "it made sure of what nobody confirmed");
    assert_eq!(cluster.listed(Workers), ["c"]);
}

// Q-B59
#[test]
fn refusals_and_flapping_start_no_chains_of_retries() {
    let mut cluster = three();
    cluster.host("b").loses = Some(is_join);
    cluster.expire("b");
    let before = cluster.hosts["b"].writes();
    let flaps = 30;
    for _ in 0..flaps {
        cluster.cut("b");
        cluster.run(20 * LATENCY);
        cluster.heal("b");
        cluster.run(20 * LATENCY);
    }
    cluster.host("b").loses = None;
    cluster.settle();
    let writes = cluster.hosts["b"].writes() - before;
    assert!(writes <= 2 * flaps, "{writes} writes for {flaps} flaps");
}

// Q-B62
#[test]
fn one_malformed_entry_is_skipped_and_counted_and_the_others_go_on() {
    let mut cluster = three();
    cluster.operator(Act::LitterDirectory(Workers));
    cluster.operator(Act::LitterDirectory(Coordinators));
    cluster.operator(Act::LitterQueue);
    cluster.start("d");
    cluster.settle();
    assert_eq!(cluster.node("a").skipped().1, 2);
    assert_eq!(cluster.node("d").skipped().0, 1);
    assert_eq!(cluster.node("a").workers().len(), 3);
}

// Q-B64
#[test]
fn a_plain_reconnect_writes_nothing_to_the_registries() {
    let mut cluster = three();
    let created: Vec<u64> = cluster.members(Workers).iter().map(|member| member.created).collect();
    for name in ["a", "b", "c"] {
        cluster.cut(name);
        cluster.run(50 * LATENCY);
        cluster.heal(name);
        cluster.run(50 * LATENCY);
    }
    assert!(cluster.at_rest().is_ok());
    assert_eq!(cluster.members(Workers).iter().map(|member| member.created).collect::<Vec<_>>(), created);
    assert!(!cluster.trace.text().contains("workers -"), "nobody saw anybody leave");
}

// Q-B08, for a registry: an operator deletes an entry
#[test]
fn an_entry_that_an_operator_deletes_is_made_again() {
    let mut cluster = three();
    for directory in [Workers, Coordinators] {
        let key = cluster.members(directory)[0].key.clone();
        cluster.operator(Act::DeleteMember { directory, key });
        cluster.run(Duration::from_millis(50));
        assert!(cluster.at_rest().is_ok(), "{:?}", cluster.at_rest());
    }
}
