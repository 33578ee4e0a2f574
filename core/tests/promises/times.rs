//! P1, P6 and P13 in virtual time.

use std::time::Duration;

use rolecall_core::Role;
use rolecall_core::store::{Fault, Server};

use crate::three;
use crate::world::{LATENCY, TICK, TIMEOUT, World};

/// P6, with services that drain in no time.
const BOUND: Duration = Duration::from_millis(2_000 + 200 + 200 + 1_000);

fn until_led(world: &mut World, bound: Duration) {
    let began = world.now;
    world.until("somebody led", |world| world.leaders().first().is_some_and(|name| world.role(name) == Role::Leader));
    assert!(world.now.since(began) <= bound, "{:?}", world.now.since(began));
}

// P6
#[test]
fn there_is_a_leader_again_within_the_bound_whenever_in_a_tick_the_leader_dies() {
    assert_eq!(BOUND, TIMEOUT + 2 * TICK + Duration::from_secs(1));
    for millis in (0..TICK.as_millis()).step_by(7) {
        let mut world = three();
        world.run(Duration::from_millis(u64::try_from(millis).expect("a tick is short")));
        world.crash("a");
        until_led(&mut world, BOUND);
    }
}

// P6
#[test]
fn after_a_restart_of_the_store_there_is_a_leader_within_one_timeout_more() {
    for keep_data in [true, false] {
        let mut world = three();
        world.fault(Fault::Restart { keep_data });
        world.crash("a");
        until_led(&mut world, BOUND + TIMEOUT);
    }
}

// P6
#[test]
fn a_planned_change_of_leader_takes_no_timeout() {
    let mut world = three();
    let began = world.now;
    world.deliver("a", rolecall_core::Event::Shutdown);
    world.until("b served", |world| world.role("b") == Role::Leader);
    assert!(world.now.since(began) < 100 * LATENCY);
}

// P1, P13: a server cut off from its peers answers reads and commits nothing
#[test]
fn a_leader_behind_a_server_that_is_cut_off_steps_down_before_another_leads() {
    let mut world = World::with_servers(3);
    world.start_in_order(&["a", "b", "c"]);
    for (name, server) in [("a", 1), ("b", 0), ("c", 2)] {
        world.move_to(name, Server(server));
    }
    world.settle();
    world.fault(Fault::Cut(Server(1)));
    world.until("a stepped down", |world| world.node("a").term().is_none());
    assert!(world.leaders().is_empty());
    world.until("b led", |world| world.leaders() == ["b"]);
    world.fault(Fault::Heal { server: Server(1), deliver: true });
    world.settle();
}

// P1: a slow write proves only that the session lived when it was sent
#[test]
fn a_term_is_counted_from_before_the_call_however_late_the_answer() {
    let mut world = three();
    // So late that the next but one is sent before the other servers surely know of the first.
    world.host("a").answers_take = TIMEOUT / 4 - 20 * LATENCY;
    world.run(2 * TIMEOUT);
    assert_eq!(world.leaders(), ["a"]);
    world.cut("a");
    world.until("b led", |world| world.leaders() == ["b"]);
    world.host("a").answers_take = Duration::ZERO;
    world.heal("a");
    world.settle();
}

// P13
#[test]
fn the_gate_closes_by_time_alone_though_the_driver_hears_nothing() {
    let mut world = three();
    let (_, until) = world.node("a").term().expect("it leads");
    world.cut("a");
    world.pause("a");
    world.run(until.since(world.now));
    assert!(world.leaders().is_empty());
}

// P1: clocks with the largest allowed error
#[test]
fn a_slow_clock_of_a_leader_never_makes_two_leaders() {
    for ppm in [-9_900, 9_900] {
        let mut world = World::new();
        world.start("a");
        world.host("a").clock_ppm = ppm;
        world.until("led", |world| world.role("a") == Role::Leader);
        world.start_in_order(&["b"]);
        world.settle();
        world.cut("a");
        world.until("b led", |world| world.leaders() == ["b"]);
        world.heal("a");
        world.settle();
    }
}

/// A leader and a worker behind servers of their own, at this phase of the store's tick.
fn two_behind_two_servers(phase: Duration) -> World {
    let mut world = World::with_servers(2);
    world.start_in_order(&["a", "b"]);
    world.move_to("b", Server(1));
    world.run(TIMEOUT + phase);
    world
}

// P1: when a server is cut off, the others count from what they had been told before
#[test]
fn a_heartbeat_after_a_pause_proves_no_more_than_what_the_other_servers_knew() {
    for phase in (0..TICK.as_millis()).step_by(20) {
        let mut world = two_behind_two_servers(Duration::from_millis(u64::try_from(phase).expect("a tick is short")));
        world.pause("a");
        world.run(TIMEOUT * 6 / 10);
        world.resume("a");
        world.run(10 * LATENCY);
        world.fault(Fault::Cut(Server(0)));
        // Every step judges who leads.
        world.until("b led", |world| world.leaders() == ["b"]);
    }
}

// P1
#[test]
fn a_heartbeat_after_one_whose_answer_was_late_proves_no_more_than_what_the_other_servers_knew() {
    for phase in (0..TICK.as_millis()).step_by(20) {
        let mut world = two_behind_two_servers(Duration::from_millis(u64::try_from(phase).expect("a tick is short")));
        let beat = world.host("a").asked.len();
        world.host("a").answers_take = TIMEOUT * 3 / 10;
        world.until("asked", |world| world.hosts["a"].asked.len() > beat);
        world.run(2 * LATENCY);
        world.host("a").answers_take = Duration::ZERO;
        world.until("asked again", |world| world.hosts["a"].asked.len() > beat + 1);
        world.run(5 * LATENCY);
        world.fault(Fault::Cut(Server(0)));
        world.until("b led", |world| world.leaders() == ["b"]);
    }
}
