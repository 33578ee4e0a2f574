//! Role transitions: the order of their steps, and the consequences of a failing service.

use std::time::Duration;

use rolecall_core::store::{DirectoryRequest, QueueRequest, Request};
use rolecall_core::{Directory, Event, Health, OnSuspend, Role};

use crate::world::{LATENCY, World};
use crate::{in_order, three};

#[test]
fn a_worker_becomes_leader_in_the_order_of_the_design() {
    let mut world = three();
    world.crash("a");
    world.settle();
    in_order(
        &world,
        &[
            "b  claim with candidate 1",
            "lead(epoch",
            "leave workers, read workers and watch, stop service 1",
            "service 1 stopped -> start leader 2",
            "service 2 serves -> join coordinators, now leader",
        ],
    );
}

#[test]
fn a_leader_is_never_listed_as_a_worker() {
    let mut world = three();
    // The node cannot remove its own entry for a while, and does not coordinate until then (P9 is judged on every
    // step).
    world.host("b").loses = Some(|request| matches!(request, Request::Directory(DirectoryRequest::Leave { .. })));
    world.crash("a");
    world.until("b served", |world| world.role("b") == Role::Leader);
    assert!(!world.listed(Directory::Workers).contains(&"b".to_owned()));
}

#[test]
fn a_leader_becomes_a_worker_in_the_order_of_the_design() {
    let mut world = three();
    world.deliver("a", Event::Resign);
    world.settle();
    in_order(
        &world,
        &[
            "a  asked to resign -> leave coordinators, stop service 1",
            "close the gate",
            "start worker 2",
            "join workers",
        ],
    );
}

#[test]
fn leadership_that_is_lost_closes_the_gate_and_stops_the_service_in_one_step_before_anything_else() {
    let mut world = three();
    world.delete_candidate_of("a");
    world.run(2 * LATENCY);
    in_order(&world, &["a  store: candidate 0 is gone -> close the gate, stop service 1"]);
}

#[test]
fn a_service_that_fails_three_starts_makes_its_leader_resign_and_each_hold_off_is_twice_the_one_before() {
    let mut world = World::new();
    world.start("a");
    world.host("a").failing_starts = 6;
    world.until("resigned", |world| {
        world.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Delete { .. }))) == 1
    });
    let first = world.now;
    // Meanwhile the node works: its worker's start uses up the failures that are left.
    world.until("stood again", |world| {
        world.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Enter { .. }))) == 2
    });
    let held_off = world.now.since(first);
    assert!(held_off > Duration::from_millis(1_900) && held_off < Duration::from_millis(2_500), "{held_off:?}");
    world.host("a").failing_starts = 3;
    world.until("resigned again", |world| {
        world.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Delete { .. }))) == 2
    });
    let second = world.now;
    world.host("a").failing_starts = 0;
    world.until("stood again", |world| {
        world.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Enter { .. }))) == 3
    });
    let held_off = world.now.since(second);
    assert!(held_off > Duration::from_millis(3_900) && held_off < Duration::from_millis(4_500), "{held_off:?}");
    world.settle();
}

#[test]
fn a_leader_whose_service_hangs_in_its_start_resigns_after_ten_seconds_and_another_leads() {
    let mut world = three();
    world.host("b").start_takes = Duration::from_secs(3_600);
    world.crash("a");
    world.until("b claimed", |world| world.leaders() == ["b"]);
    let claimed = world.now;
    world.until("c served", |world| world.role("c") == Role::Leader);
    let took = world.now.since(claimed);
    assert!(took > Duration::from_secs(10) && took < Duration::from_secs(11), "{took:?}");
}

#[test]
fn a_failing_service_is_tried_again_later_and_later_and_the_health_tells() {
    let mut world = three();
    world.start("d");
    world.host("d").failing_starts = 4;
    world.until("failed", |world| world.node("d").health() == Health::Failing(4));
    world.settle();
    let text = world.trace.text();
    assert_eq!(text.matches("start worker").count(), 5, "{text}");
}

#[test]
fn a_service_that_ends_by_itself_is_started_again_and_the_entry_is_away_meanwhile() {
    let mut world = three();
    world.deliver("b", Event::ServiceFailed { run: rolecall_core::Run(1) });
    world.run(20 * LATENCY);
    assert_eq!(world.listed(Directory::Workers), ["c"]);
    world.settle();
    assert_eq!(world.listed(Directory::Workers), ["b", "c"]);
}

#[test]
fn a_short_loss_of_the_connection_changes_nothing_but_for_whoever_stops_at_once() {
    for on_suspend in [OnSuspend::Hold, OnSuspend::StepDown] {
        let mut world = World::new();
        world.start_with("a", |config| config.on_suspend = on_suspend);
        world.start_in_order(&["b"]);
        world.settle();
        let writes = world.hosts["a"].writes();
        world.cut("a");
        assert_eq!(world.node("a").term().is_some(), on_suspend == OnSuspend::Hold);
        world.run(100 * LATENCY);
        world.heal("a");
        world.run(30 * LATENCY);
        match on_suspend {
            OnSuspend::Hold => assert_eq!(world.hosts["a"].writes(), writes),
            OnSuspend::StepDown => {
                assert!(world.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Claim { .. }))) == 2)
            }
        }
        world.settle();
        assert_eq!(world.leaders(), ["a"]);
    }
}
