//! Role transitions: the order of their steps, and the consequences of a failing service.

use std::time::Duration;

use rolecall_core::store::{DirectoryRequest, QueueRequest, Request};
use rolecall_core::{Directory, Event, Health, OnSuspend, Role};

use crate::{in_order, three};
use rolecall_core::testing::{Cluster, LATENCY};

#[test]
fn a_worker_becomes_leader_in_the_order_of_the_design() {
    let mut cluster = three();
    cluster.crash("a");
    cluster.settle();
    in_order(
        &cluster,
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
    let mut cluster = three();
    // The node cannot remove its own entry for a while, and does not coordinate until then (P9 is judged on every
    // step).
    cluster.host("b").loses = Some(|request| matches!(request, Request::Directory(DirectoryRequest::Leave { .. })));
    cluster.crash("a");
    cluster.until("b served", |cluster| cluster.role("b") == Role::Leader);
    assert!(!cluster.listed(Directory::Workers).contains(&"b".to_owned()));
}

#[test]
fn a_leader_becomes_a_worker_in_the_order_of_the_design() {
    let mut cluster = three();
    cluster.deliver("a", Event::Resign);
    cluster.settle();
    in_order(
        &cluster,
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
    let mut cluster = three();
    cluster.delete_candidate_of("a");
    cluster.run(2 * LATENCY);
    in_order(&cluster, &["a  store: candidate 0 is gone -> close the gate, stop service 1"]);
}

#[test]
fn a_service_that_fails_three_starts_makes_its_leader_resign_and_each_hold_off_is_twice_the_one_before() {
    let mut cluster = Cluster::new();
    cluster.start("a");
    cluster.host("a").failing_starts = 6;
    cluster.until("resigned", |cluster| {
        cluster.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Delete { .. }))) == 1
    });
    let first = cluster.now;
    // Meanwhile the node works: its worker's start uses up the failures that are left.
    cluster.until("stood again", |cluster| {
        cluster.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Enter { .. }))) == 2
    });
    let held_off = cluster.now.since(first);
    assert!(held_off > Duration::from_millis(1_900) && held_off < Duration::from_millis(2_500), "{held_off:?}");
    cluster.host("a").failing_starts = 3;
    cluster.until("resigned again", |cluster| {
        cluster.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Delete { .. }))) == 2
    });
    let second = cluster.now;
    cluster.host("a").failing_starts = 0;
    cluster.until("stood again", |cluster| {
        cluster.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Enter { .. }))) == 3
    });
    let held_off = cluster.now.since(second);
    assert!(held_off > Duration::from_millis(3_900) && held_off < Duration::from_millis(4_500), "{held_off:?}");
    cluster.settle();
}

#[test]
fn a_leader_whose_service_hangs_in_its_start_resigns_after_ten_seconds_and_another_leads() {
    let mut cluster = three();
    cluster.host("b").start_takes = Duration::from_secs(3_600);
    cluster.crash("a");
    cluster.until("b claimed", |cluster| cluster.leaders() == ["b"]);
    let claimed = cluster.now;
    cluster.until("c served", |cluster| cluster.role("c") == Role::Leader);
    let took = cluster.now.since(claimed);
    assert!(took > Duration::from_secs(10) && took < Duration::from_secs(11), "{took:?}");
}

#[test]
fn a_failing_service_is_tried_again_later_and_later_and_the_health_tells() {
    let mut cluster = three();
    cluster.start("d");
    cluster.host("d").failing_starts = 4;
    cluster.until("failed", |cluster| cluster.node("d").health() == Health::Failing(4));
    cluster.settle();
    let text = cluster.trace.text();
    assert_eq!(text.matches("start worker").count(), 5, "{text}");
}

#[test]
fn a_service_that_ends_by_itself_is_started_again_and_the_entry_is_away_meanwhile() {
    let mut cluster = three();
    cluster.deliver("b", Event::ServiceFailed { run: rolecall_core::Run(1) });
    cluster.run(20 * LATENCY);
    assert_eq!(cluster.listed(Directory::Workers), ["c"]);
    cluster.settle();
    assert_eq!(cluster.listed(Directory::Workers), ["b", "c"]);
}

#[test]
fn a_short_loss_of_the_connection_changes_nothing_but_for_whoever_stops_at_once() {
    for on_suspend in [OnSuspend::Hold, OnSuspend::StepDown] {
        let mut cluster = Cluster::new();
        cluster.start_with("a", |config| config.on_suspend = on_suspend);
        cluster.start_in_order(&["b"]);
        cluster.settle();
        let writes = cluster.hosts["a"].writes();
        cluster.cut("a");
        assert_eq!(cluster.node("a").term().is_some(), on_suspend == OnSuspend::Hold);
        cluster.run(100 * LATENCY);
        cluster.heal("a");
        cluster.run(30 * LATENCY);
        if on_suspend == OnSuspend::Hold {
            assert_eq!(cluster.hosts["a"].writes(), writes);
        } else {
            let claims = cluster.hosts["a"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Claim { .. })));
            assert_eq!(claims, 2);
        }
        cluster.settle();
        assert_eq!(cluster.leaders(), ["a"]);
    }
}
