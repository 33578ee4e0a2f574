//! The part that a node is given: to stand, to be listed, or to look on.

use std::sync::Arc;

use rolecall_core::{Directory, Health, Leader, Role};

use crate::three;
use crate::world::World;

fn workers_of(world: &World, name: &str) -> Vec<String> {
    world.node(name).workers().iter().map(|member| member.key.id.to_string()).collect()
}

fn leader_of(world: &World, name: &str) -> Option<Arc<str>> {
    match world.node(name).leader()? {
        Leader::Node { id, .. } => Some(id),
        Leader::Foreign { .. } => None,
    }
}

#[test]
fn an_observer_follows_leaders_and_workers_and_stands_for_nothing() {
    let mut world = three();
    world.start_with("o", |config| config.observes = true);
    // At rest the queue and the directories hold the others alone.
    world.settle();
    assert_eq!((leader_of(&world, "o").as_deref(), workers_of(&world, "o")), (Some("a"), vec!["b".into(), "c".into()]));

    world.settle_without("a");

    assert_eq!((leader_of(&world, "o").as_deref(), workers_of(&world, "o")), (Some("b"), vec!["c".into()]));
    assert_eq!((world.role("o"), world.node("o").health()), (Role::None, Health::Observing));
}

#[test]
fn an_observer_never_leads_though_it_is_alone() {
    let mut world = World::new();
    world.start_with("o", |config| config.observes = true);
    world.run(10 * crate::world::TIMEOUT);
    assert_eq!((world.role("o"), world.node("o").health()), (Role::None, Health::Observing));
    assert_eq!(world.queue(), []);
}

#[test]
fn an_observer_is_disturbed_by_nobody_of_its_id() {
    let mut world = three();
    world.start_with("o", |config| {
        config.observes = true;
        config.id = "a".into();
    });
    world.settle();
    assert_eq!(world.node("o").health(), Health::Observing);
}

#[test]
fn a_worker_that_follows_the_workers_knows_them_all() {
    let mut world = three();
    world.start_with("d", |config| config.follows_workers = true);
    world.settle();
    assert_eq!(workers_of(&world, "d"), ["b", "c", "d"]);
    let read_once = workers_of(&world, "c");

    world.settle_without("b");

    assert_eq!(workers_of(&world, "d"), ["c", "d"]);
    assert_eq!(workers_of(&world, "c"), read_once, "who does not follow them is spared their news");
}

#[test]
fn a_cluster_that_is_not_listed_has_a_leader_all_the_same() {
    let mut world = World::new();
    for name in ["a", "b"] {
        world.start_with(name, |config| config.registers = false);
    }
    let serves = |world: &World, name| (world.role(name), world.node(name).health());
    world.until("both serve", |world| {
        serves(world, "a") == (Role::Leader, Health::Serving) && serves(world, "b") == (Role::Worker, Health::Serving)
    });
    world.run(crate::world::TIMEOUT);
    assert!(world.listed(Directory::Workers).is_empty() && world.listed(Directory::Coordinators).is_empty());
}
