//! Applications that want to lead now and then.

use std::time::Duration;

use rolecall_core::{Directory, Role};

use crate::three;
use crate::world::{LATENCY, World};

#[test]
fn a_leader_that_wants_to_lead_no_more_hands_over_in_good_order_and_works_on() {
    let mut world = three();
    let (before, _) = world.node("a").term().expect("it leads");

    world.wish("a", false);
    world.until("b led", |world| world.role("b") == Role::Leader);
    world.settle();

    assert_eq!(world.role("a"), Role::Worker);
    assert_eq!(world.queue().len(), 2, "a stands for nothing");
    assert_eq!(world.listed(Directory::Workers), ["a", "c"]);
    let (after, _) = world.node("b").term().expect("it leads");
    assert!(after.is_newer_than(before));
}

#[test]
fn a_leader_that_gives_its_term_up_and_wants_another_goes_behind_those_who_wait() {
    let mut world = three();

    world.wish("a", false);
    world.wish("a", true);
    world.until("b led", |world| world.role("b") == Role::Leader);
    world.settle();

    assert!(world.candidate_of("a") > world.candidate_of("c"));
    for (gone, next) in [("b", "c"), ("c", "a")] {
        world.crash(gone);
        world.until("the next led", |world| world.role(next) == Role::Leader);
    }
}

#[test]
fn a_node_that_does_not_want_to_lead_works_and_leads_once_it_wants_to() {
    let mut world = World::new();
    world.start("a");
    world.wish("a", false);
    world.run(Duration::from_secs(40));
    assert_eq!((world.role("a"), world.queue()), (Role::Worker, Vec::new()));
    assert_eq!(world.listed(Directory::Workers), ["a"]);

    world.wish("a", true);
    world.run(40 * LATENCY);
    assert_eq!(world.leaders(), ["a"]);
}
