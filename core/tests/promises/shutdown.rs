//! The end of a node, in every role and state.

use std::time::Duration;

use rolecall_core::{Directory, Event, Role};

use crate::{in_order, three};
use rolecall_core::testing::{Cluster, LATENCY, Outcome};

fn until_ended(cluster: &mut Cluster, name: &'static str) {
    cluster.until("ended", |cluster| cluster.hosts[name].outcome == Outcome::Exited);
    cluster.run(5 * LATENCY);
}

fn is_gone(cluster: &Cluster, name: &str) -> bool {
    let listed = |directory| cluster.listed(directory).iter().any(|id| id == name);
    !listed(Directory::Workers) && !listed(Directory::Coordinators)
}

#[test]
fn a_worker_leaves_the_registry_before_its_service_has_stopped() {
    let mut cluster = three();
    cluster.host("b").stop_takes = Duration::from_secs(3);
    cluster.deliver("b", Event::Shutdown);
    cluster.run(10 * LATENCY);
    assert!(is_gone(&cluster, "b"));
    until_ended(&mut cluster, "b");
    assert_eq!(cluster.queue().len(), 2);
}

#[test]
fn a_leader_keeps_its_term_while_it_drains() {
    let mut cluster = three();
    cluster.host("a").stop_takes = Duration::from_secs(3);
    cluster.deliver("a", Event::Shutdown);
    cluster.run(Duration::from_millis(2_900));
    assert_eq!(cluster.leaders(), ["a"]);
    until_ended(&mut cluster, "a");
    in_order(
        &cluster,
        &["a  asked to end", "service 1 stopped -> close the gate, delete candidate 0", "close the session"],
    );
    cluster.until("b led", |cluster| cluster.leaders() == ["b"]);
}

#[test]
fn an_undecided_node_ends_at_once() {
    let mut cluster = Cluster::new();
    cluster.start("a");
    cluster.deliver("a", Event::Shutdown);
    until_ended(&mut cluster, "a");
    assert!(cluster.queue().is_empty());
}

#[test]
fn a_node_that_waits_for_its_former_life_ends_at_once() {
    let mut cluster = three();
    cluster.crash("b");
    cluster.start("b");
    cluster.run(100 * LATENCY);
    cluster.deliver("b", Event::Shutdown);
    cluster.run(20 * LATENCY);
    assert_eq!((cluster.hosts["b"].outcome.clone(), cluster.hosts["b"].writes()), (Outcome::Exited, 0));
}

#[test]
fn entries_go_even_though_the_stop_hook_is_late() {
    let mut cluster = three();
    cluster.host("a").stop_takes = Duration::from_secs(9);
    cluster.deliver("a", Event::Shutdown);
    cluster.run(20 * LATENCY);
    assert!(is_gone(&cluster, "a"));
    until_ended(&mut cluster, "a");
    assert_eq!(cluster.queue().len(), 2);
}

#[test]
fn a_stop_hook_that_outlasts_its_drain_and_grace_halts_the_node() {
    let mut cluster = three();
    cluster.host("b").stop_takes = Duration::from_secs(3_600);
    cluster.deliver("b", Event::Shutdown);
    cluster.run(Duration::from_secs(11));
    assert_eq!(cluster.hosts["b"].outcome, Outcome::Halted(rolecall_core::Violation::StopOverran));
}

#[test]
fn a_node_without_connection_ends_at_its_limit_at_the_latest() {
    let mut cluster = three();
    cluster.cut("b");
    cluster.deliver("b", Event::Shutdown);
    let limit = cluster.now + cluster.node("b").config().shutdown_limit;
    until_ended(&mut cluster, "b");
    assert!(cluster.now <= limit + 5 * LATENCY);
    cluster.until("the store forgot it", |cluster| is_gone(cluster, "b") && cluster.queue().len() == 2);
}

#[test]
fn a_node_that_never_had_a_session_ends_at_once() {
    let mut cluster = Cluster::new();
    cluster.start("a");
    cluster.cut("a");
    cluster.deliver("a", Event::Shutdown);
    assert_eq!((cluster.hosts["a"].outcome.clone(), cluster.role("a")), (Outcome::Exited, Role::None));
}

#[test]
fn a_shutdown_at_any_moment_of_a_succession_ends_in_good_order() {
    for millis in 0..60 {
        let mut cluster = three();
        cluster.expire("a");
        cluster.run(Duration::from_millis(millis));
        cluster.deliver("b", Event::Shutdown);
        until_ended(&mut cluster, "b");
        assert!(is_gone(&cluster, "b"), "at {millis} ms");
        cluster.settle();
    }
}
