//! Operators delete entries that a node depends on.

use std::time::Duration;

use rolecall_core::store::{Act, Answer, QueueRequest, Reply, Request};
use rolecall_core::{Directory, Event, Health};

use crate::three;
use rolecall_core::testing::{Cluster, LATENCY};

#[test]
fn a_term_record_that_is_deleted_under_a_leader_is_written_again_with_a_new_term() {
    let mut cluster = three();
    let (before, _) = cluster.node("a").term().expect("it leads");
    cluster.operator(Act::DeleteTerm);
    cluster.start("d");
    cluster.run(Duration::from_secs(40));
    assert!(cluster.at_rest().is_ok(), "{:?}", cluster.at_rest());
    let (after, _) = cluster.node("a").term().expect("it leads");
    assert!(after.is_newer_than(before));
    // A node that started without a record to read has its floor by now.
    assert_eq!(cluster.node("d").floor(), Some(after));
}

#[test]
fn a_waiter_whose_candidate_is_deleted_enters_again_when_it_next_looks() {
    let mut cluster = three();
    let old = cluster.delete_candidate_of("c");
    cluster.run(Duration::from_secs(40));
    assert!(cluster.at_rest().is_ok(), "{:?}", cluster.at_rest());
    assert!(cluster.candidate_of("c") > old);
}

#[test]
fn everything_is_deleted_at_once_and_comes_back() {
    let mut cluster = three();
    for (candidate, _) in cluster.queue() {
        cluster.operator(Act::DeleteCandidate(candidate));
    }
    for directory in [Directory::Workers, Directory::Coordinators] {
        for member in cluster.members(directory) {
            cluster.operator(Act::DeleteMember { directory, key: member.key });
        }
    }
    cluster.operator(Act::DeleteTerm);
    cluster.settle();
}

#[test]
fn garbage_in_the_place_of_the_term_record_keeps_nobody_from_leading() {
    let mut cluster = Cluster::new();
    cluster.operator(Act::SpoilTerm);
    for name in ["a", "b"] {
        cluster.start(name);
        cluster.run(100 * LATENCY);
    }
    cluster.settle();
    assert_eq!(cluster.leaders(), ["a"]);
    // A leader that finds it claims anew: nodes that start know of no term otherwise.
    let (before, _) = cluster.node("a").term().expect("it leads");
    cluster.operator(Act::SpoilTerm);
    cluster.start("c");
    cluster.run(Duration::from_secs(40));
    assert!(cluster.at_rest().is_ok(), "{:?}", cluster.at_rest());
    assert!(cluster.node("a").term().is_some_and(|(after, _)| after.is_newer_than(before)));
}

#[test]
fn a_node_that_cannot_write_over_garbage_says_what_it_has_found() {
    let mut cluster = Cluster::new();
    cluster.operator(Act::SpoilTerm);
    cluster.start("a");
    cluster.host("a").loses = Some(|request| matches!(request, Request::Queue(QueueRequest::Claim { .. })));
    cluster.host("a").holds =
        Some(|event| matches!(event, Event::Answered { answer: Answer::Done(Reply::Queue(_)), .. }));
    cluster.run(100 * LATENCY);
    assert_eq!(cluster.node("a").health(), Health::TermUnreadable);
}
