//! Epochs, floors and incarnations.

use rolecall_core::store::{Act, Fault};
use rolecall_core::{Epoch, Event, Fence, Incarnation, Leader};

use crate::three;
use crate::world::{LATENCY, World};

fn fence(world: &World, name: &str) -> Fence {
    world.node(name).term().expect("it leads").0
}

// P12
#[test]
fn every_term_has_a_higher_epoch_than_all_before_it() {
    let mut world = three();
    let mut last = fence(&world, "a");
    for _ in 0..6 {
        let leader = world.leaders()[0];
        world.expire(leader);
        world.settle();
        let next = fence(&world, world.leaders()[0]);
        assert!(next.is_newer_than(last));
        last = next;
    }
}

// P14
#[test]
fn everyone_knows_the_floor_and_a_starting_node_reads_it_where_no_leader_is_left() {
    let mut world = three();
    let term = fence(&world, "a");
    for name in ["a", "b", "c"] {
        world.crash(name);
    }
    world.start("d");
    world.until("read it", |world| world.node("d").floor().is_some());
    assert_eq!(world.node("d").floor(), Some(term));
}

// P14
#[test]
fn a_forged_epoch_locks_nobody_out() {
    let mut world = three();
    let term = fence(&world, "a");
    for name in ["a", "b", "c"] {
        let forged = Fence { incarnation: term.incarnation, epoch: Epoch(u64::MAX) };
        world.deliver(name, Event::FenceSeen { fence: forged });
        let alien = Fence { incarnation: Incarnation(1), epoch: Epoch(u64::MAX) };
        world.deliver(name, Event::FenceSeen { fence: alien });
        world.run(20 * LATENCY);
        assert_eq!(world.node(name).floor(), Some(term));
    }
    world.settle();
    assert_eq!(fence(&world, "a"), term);
}

// P14
#[test]
fn a_newer_epoch_that_is_real_is_believed_once_the_record_says_so() {
    let mut world = three();
    world.host("c").holds = Some(|event| matches!(event, Event::Noticed { .. }));
    world.crash("a");
    world.until("b led", |world| world.leaders() == ["b"]);
    let newer = fence(&world, "b");
    assert!(newer.is_newer_than(world.node("c").floor().expect("it has one")));
    world.deliver("c", Event::FenceSeen { fence: newer });
    world.run(5 * LATENCY);
    assert_eq!(world.node("c").floor(), Some(newer));
}

#[test]
fn a_store_restarted_with_its_data_keeps_the_incarnation() {
    let mut world = three();
    let before = fence(&world, "a");
    world.fault(Fault::Restart { keep_data: true });
    world.settle();
    let after = fence(&world, world.leaders()[0]);
    assert_eq!(after.incarnation, before.incarnation);
}

#[test]
fn a_store_restarted_empty_has_another_incarnation_that_replaces_every_floor() {
    let mut world = three();
    let before = fence(&world, "a");
    world.fault(Fault::Restart { keep_data: false });
    world.settle();
    let after = fence(&world, world.leaders()[0]);
    assert_ne!(after.incarnation, before.incarnation);
    world.run(40_000 * LATENCY);
    for name in ["a", "b", "c"] {
        assert_eq!(world.node(name).floor(), Some(after));
    }
}

#[test]
fn a_deleted_record_takes_no_floor_away_and_is_written_again_with_its_incarnation() {
    let mut world = three();
    let term = fence(&world, "a");
    // The record is written anew under the same sessions, which happens only after an operator deleted it.
    world.operator(Act::DeleteTerm);
    world.cut("c");
    world.heal("c");
    world.settle();
    assert_eq!(world.node("c").floor(), Some(term), "a missing record takes no floor away");
    world.expire("a");
    world.settle();
    let next = fence(&world, world.leaders()[0]);
    assert_eq!(next.incarnation, term.incarnation, "whoever knows the incarnation writes it again");
    assert!(next.is_newer_than(term));
}

#[test]
fn a_leader_that_is_cut_off_names_itself_for_as_long_as_its_term_holds() {
    let mut world = three();
    let (fence, until) = world.node("a").term().expect("it leads");
    world.cut("a");
    world.run(20 * LATENCY);
    let leader = world.node("a").leader();
    assert!(
        matches!(&leader, Some(Leader::Node { id, epoch, .. }) if &**id == "a" && *epoch == fence.epoch),
        "{leader:?}"
    );
    world.run(until.since(world.now) + LATENCY);
    assert_eq!(world.node("a").leader(), None);
}
