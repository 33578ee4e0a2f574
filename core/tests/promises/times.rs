//! P1, P6 and P13 in virtual time.

use std::time::Duration;

use rolecall_core::Role;
use rolecall_core::store::{Fault, Server};

use crate::three;
use rolecall_core::testing::{Cluster, LATENCY, TICK, TIMEOUT};

/// P6, with services that drain in no time.
const BOUND: Duration = Duration::from_millis(2_000 + 200 + 200 + 1_000);

fn until_led(cluster: &mut Cluster, bound: Duration) {
    let began = cluster.now;
    cluster.until("somebody led", |cluster| {
        cluster.leaders().first().is_some_and(|name| cluster.role(name) == Role::Leader)
    });
    assert!(cluster.now.since(began) <= bound, "{:?}", cluster.now.since(began));
}

// P6
#[test]
fn there_is_a_leader_again_within_the_bound_whenever_in_a_tick_the_leader_dies() {
    assert_eq!(BOUND, TIMEOUT + 2 * TICK + Duration::from_secs(1));
    for millis in (0..TICK.as_millis()).step_by(7) {
        let mut cluster = three();
        cluster.run(Duration::from_millis(u64::try_from(millis).expect("a tick is short")));
        cluster.crash("a");
        until_led(&mut cluster, BOUND);
    }
}

// P6
#[test]
fn after_a_restart_of_the_store_there_is_a_leader_within_one_timeout_more() {
    for keep_data in [true, false] {
        let mut cluster = three();
        cluster.fault(Fault::Restart { keep_data });
        cluster.crash("a");
        until_led(&mut cluster, BOUND + TIMEOUT);
    }
}

// P6
#[test]
fn a_planned_change_of_leader_takes_no_timeout() {
    let mut cluster = three();
    let began = cluster.now;
    cluster.deliver("a", rolecall_core::Event::Shutdown);
    cluster.until("b served", |cluster| cluster.role("b") == Role::Leader);
    assert!(cluster.now.since(began) < 100 * LATENCY);
}

// P1, P13: a server cut off from its peers answers reads and commits nothing
#[test]
fn a_leader_behind_a_server_that_is_cut_off_steps_down_before_another_leads() {
    let mut cluster = Cluster::with_servers(3);
    cluster.start_in_order(&["a", "b", "c"]);
    for (name, server) in [("a", 1), ("b", 0), ("c", 2)] {
        cluster.move_to(name, Server(server));
    }
    cluster.settle();
    cluster.fault(Fault::Cut(Server(1)));
    cluster.until("a stepped down", |cluster| cluster.node("a").term().is_none());
    assert!(cluster.leaders().is_empty());
    cluster.until("b led", |cluster| cluster.leaders() == ["b"]);
    cluster.fault(Fault::Heal { server: Server(1), deliver: true });
    cluster.settle();
}

// P1: a slow write proves only that the session lived when it was sent
#[test]
fn a_term_is_counted_from_before_the_call_however_late_the_answer() {
    let mut cluster = three();
    // So late that the next but one is sent before the other servers surely know of the first.
    cluster.host("a").answers_take = TIMEOUT / 4 - 20 * LATENCY;
    cluster.run(2 * TIMEOUT);
    assert_eq!(cluster.leaders(), ["a"]);
    cluster.cut("a");
    cluster.until("b led", |cluster| cluster.leaders() == ["b"]);
    cluster.host("a").answers_take = Duration::ZERO;
    cluster.heal("a");
    cluster.settle();
}

// P13
#[test]
fn the_gate_closes_by_time_alone_though_the_driver_hears_nothing() {
    let mut cluster = three();
    let (_, until) = cluster.node("a").term().expect("it leads");
    cluster.cut("a");
    cluster.pause("a");
    cluster.run(until.since(cluster.now));
    assert!(cluster.leaders().is_empty());
}

// P1: clocks with the largest allowed error
#[test]
fn a_slow_clock_of_a_leader_never_makes_two_leaders() {
    for ppm in [-9_900, 9_900] {
        let mut cluster = Cluster::new();
        cluster.start("a");
        cluster.host("a").clock_ppm = ppm;
        cluster.until("led", |cluster| cluster.role("a") == Role::Leader);
        cluster.start_in_order(&["b"]);
        cluster.settle();
        cluster.cut("a");
        cluster.until("b led", |cluster| cluster.leaders() == ["b"]);
        cluster.heal("a");
        cluster.settle();
    }
}

/// A leader and a worker behind servers of their own, at this phase of the store's tick.
fn two_behind_two_servers(phase: Duration) -> Cluster {
    let mut cluster = Cluster::with_servers(2);
    cluster.start_in_order(&["a", "b"]);
    cluster.move_to("b", Server(1));
    cluster.run(TIMEOUT + phase);
    cluster
}

// P1: when a server is cut off, the others count from what they had been told before
#[test]
fn a_heartbeat_after_a_pause_proves_no_more_than_what_the_other_servers_knew() {
    for phase in (0..TICK.as_millis()).step_by(20) {
        let mut cluster = two_behind_two_servers(Duration::from_millis(u64::try_from(phase).expect("a tick is short")));
        cluster.pause("a");
        cluster.run(TIMEOUT * 6 / 10);
        cluster.resume("a");
        cluster.run(10 * LATENCY);
        cluster.fault(Fault::Cut(Server(0)));
        // Every step judges who leads.
        cluster.until("b led", |cluster| cluster.leaders() == ["b"]);
    }
}

// P1
#[test]
fn a_heartbeat_after_one_whose_answer_was_late_proves_no_more_than_what_the_other_servers_knew() {
    for phase in (0..TICK.as_millis()).step_by(20) {
        let mut cluster = two_behind_two_servers(Duration::from_millis(u64::try_from(phase).expect("a tick is short")));
        let beat = cluster.host("a").asked.len();
        cluster.host("a").answers_take = TIMEOUT * 3 / 10;
        cluster.until("asked", |cluster| cluster.hosts["a"].asked.len() > beat);
        cluster.run(2 * LATENCY);
        cluster.host("a").answers_take = Duration::ZERO;
        cluster.until("asked again", |cluster| cluster.hosts["a"].asked.len() > beat + 1);
        cluster.run(5 * LATENCY);
        cluster.fault(Fault::Cut(Server(0)));
        cluster.until("b led", |cluster| cluster.leaders() == ["b"]);
    }
}
