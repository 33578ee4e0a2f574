//! The end of a node, in every role and state.

use std::time::Duration;

use rolecall_core::{Directory, Event, Role};

use crate::world::{LATENCY, Outcome, World};
use crate::{in_order, three};

fn until_ended(world: &mut World, name: &'static str) {
    world.until("ended", |world| world.hosts[name].outcome == Outcome::Exited);
    world.run(5 * LATENCY);
}

fn is_gone(world: &World, name: &str) -> bool {
    let listed = |directory| world.listed(directory).iter().any(|id| id == name);
    !listed(Directory::Workers) && !listed(Directory::Coordinators)
}

#[test]
fn a_worker_leaves_the_registry_before_its_service_has_stopped() {
    let mut world = three();
    world.host("b").stop_takes = Duration::from_secs(3);
    world.deliver("b", Event::Shutdown);
    world.run(10 * LATENCY);
    assert!(is_gone(&world, "b"));
    until_ended(&mut world, "b");
    assert_eq!(world.queue().len(), 2);
}

#[test]
fn a_leader_keeps_its_term_while_it_drains() {
    let mut world = three();
    world.host("a").stop_takes = Duration::from_secs(3);
    world.deliver("a", Event::Shutdown);
    world.run(Duration::from_millis(2_900));
    assert_eq!(world.leaders(), ["a"]);
    until_ended(&mut world, "a");
    in_order(
        &world,
        &["a  asked to end", "service 1 stopped -> close the gate, delete candidate 0", "close the session"],
    );
    world.until("b led", |world| world.leaders() == ["b"]);
}

#[test]
fn an_undecided_node_ends_at_once() {
    let mut world = World::new();
    world.start("a");
    world.deliver("a", Event::Shutdown);
    until_ended(&mut world, "a");
    assert!(world.queue().is_empty());
}

#[test]
fn a_node_that_waits_for_its_former_life_ends_at_once() {
    let mut world = three();
    world.crash("b");
    world.start("b");
    world.run(100 * LATENCY);
    world.deliver("b", Event::Shutdown);
    world.run(20 * LATENCY);
    assert_eq!((world.hosts["b"].outcome.clone(), world.hosts["b"].writes()), (Outcome::Exited, 0));
}

#[test]
fn entries_go_even_though_the_stop_hook_is_late() {
    let mut world = three();
    world.host("a").stop_takes = Duration::from_secs(9);
    world.deliver("a", Event::Shutdown);
    world.run(20 * LATENCY);
    assert!(is_gone(&world, "a"));
    until_ended(&mut world, "a");
    assert_eq!(world.queue().len(), 2);
}

#[test]
fn a_stop_hook_that_outlasts_its_drain_and_grace_halts_the_node() {
    let mut world = three();
    world.host("b").stop_takes = Duration::from_secs(3_600);
    world.deliver("b", Event::Shutdown);
    world.run(Duration::from_secs(11));
    assert_eq!(world.hosts["b"].outcome, Outcome::Halted(rolecall_core::Violation::StopOverran));
}

#[test]
fn a_node_without_connection_ends_at_its_limit_at_the_latest() {
    let mut world = three();
    world.cut("b");
    world.deliver("b", Event::Shutdown);
    let limit = world.now + world.node("b").config().shutdown_limit;
    until_ended(&mut world, "b");
    assert!(world.now <= limit + 5 * LATENCY);
    world.until("the store forgot it", |world| is_gone(world, "b") && world.queue().len() == 2);
}

#[test]
fn a_node_that_never_had_a_session_ends_at_once() {
    let mut world = World::new();
    world.start("a");
    world.cut("a");
    world.deliver("a", Event::Shutdown);
    assert_eq!((world.hosts["a"].outcome.clone(), world.role("a")), (Outcome::Exited, Role::None));
}

#[test]
fn a_shutdown_at_any_moment_of_a_succession_ends_in_good_order() {
    for millis in 0..60 {
        let mut world = three();
        world.expire("a");
        world.run(Duration::from_millis(millis));
        world.deliver("b", Event::Shutdown);
        until_ended(&mut world, "b");
        assert!(is_gone(&world, "b"), "at {millis} ms");
        world.settle();
    }
}
