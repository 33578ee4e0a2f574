//! Operators delete entries that a node depends on.

use std::time::Duration;

use rolecall_core::store::{Act, Answer, QueueRequest, Reply, Request};
use rolecall_core::{Directory, Event, Health};

use crate::three;
use crate::world::{LATENCY, World};

#[test]
fn a_term_record_that_is_deleted_under_a_leader_is_written_again_with_a_new_term() {
    let mut world = three();
    let (before, _) = world.node("a").term().expect("it leads");
    world.operator(Act::DeleteTerm);
    world.start("d");
    world.run(Duration::from_secs(40));
    assert!(world.at_rest().is_ok(), "{:?}", world.at_rest());
    let (after, _) = world.node("a").term().expect("it leads");
    assert!(after.is_newer_than(before));
    // A node that started without a record to read has its floor by now.
    assert_eq!(world.node("d").floor(), Some(after));
}

#[test]
fn a_waiter_whose_candidate_is_deleted_enters_again_when_it_next_looks() {
    let mut world = three();
    let old = world.delete_candidate_of("c");
    world.run(Duration::from_secs(40));
    assert!(world.at_rest().is_ok(), "{:?}", world.at_rest());
    assert!(world.candidate_of("c") > old);
}

#[test]
fn everything_is_deleted_at_once_and_comes_back() {
    let mut world = three();
    for (candidate, _) in world.queue() {
        world.operator(Act::DeleteCandidate(candidate));
    }
    for directory in [Directory::Workers, Directory::Coordinators] {
        for member in world.members(directory) {
            world.operator(Act::DeleteMember { directory, key: member.key });
        }
    }
    world.operator(Act::DeleteTerm);
    world.settle();
}

#[test]
fn garbage_in_the_place_of_the_term_record_keeps_nobody_from_leading() {
    let mut world = World::new();
    world.operator(Act::SpoilTerm);
    for name in ["a", "b"] {
        world.start(name);
        world.run(100 * LATENCY);
    }
    world.settle();
    assert_eq!(world.leaders(), ["a"]);
    // A leader that finds it claims anew: nodes that start know of no term otherwise.
    let (before, _) = world.node("a").term().expect("it leads");
    world.operator(Act::SpoilTerm);
    world.start("c");
    world.run(Duration::from_secs(40));
    assert!(world.at_rest().is_ok(), "{:?}", world.at_rest());
    assert!(world.node("a").term().is_some_and(|(after, _)| after.is_newer_than(before)));
}

#[test]
fn a_node_that_cannot_write_over_garbage_says_what_it_has_found() {
    let mut world = World::new();
    world.operator(Act::SpoilTerm);
    world.start("a");
    world.host("a").loses = Some(|request| matches!(request, Request::Queue(QueueRequest::Claim { .. })));
    world.host("a").holds =
        Some(|event| matches!(event, Event::Answered { answer: Answer::Done(Reply::Queue(_)), .. }));
    world.run(100 * LATENCY);
    assert_eq!(world.node("a").health(), Health::TermUnreadable);
}
