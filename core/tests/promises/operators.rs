//! Operators delete entries that a node depends on.

use std::time::Duration;

use rolecall_core::Directory;
use rolecall_core::store::Act;

use crate::three;

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
