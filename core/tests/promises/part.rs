//! The part that a node is given: to stand, to be listed, or to look on.

use std::sync::Arc;

use rolecall_core::{Directory, Health, Leader, Role};

use crate::three;
use rolecall_core::testing::Cluster;

fn workers_of(cluster: &Cluster, name: &str) -> Vec<String> {
    cluster.node(name).workers().iter().map(|member| member.key.id.to_string()).collect()
}

fn leader_of(cluster: &Cluster, name: &str) -> Option<Arc<str>> {
    match cluster.node(name).leader()? {
        Leader::Node { id, .. } => Some(id),
        Leader::Foreign { .. } => None,
    }
}

#[test]
fn an_observer_follows_leaders_and_workers_and_stands_for_nothing() {
    let mut cluster = three();
    cluster.start_with("o", |config| config.observes = true);
    // At rest the queue and the directories hold the others alone.
    cluster.settle();
    assert_eq!(
        (leader_of(&cluster, "o").as_deref(), workers_of(&cluster, "o")),
        (Some("a"), vec!["b".into(), "c".into()])
    );

    cluster.settle_without("a");

    assert_eq!((leader_of(&cluster, "o").as_deref(), workers_of(&cluster, "o")), (Some("b"), vec!["c".into()]));
    assert_eq!((cluster.role("o"), cluster.node("o").health()), (Role::None, Health::Observing));
}

#[test]
fn an_observer_never_leads_though_it_is_alone() {
    let mut cluster = Cluster::new();
    cluster.start_with("o", |config| config.observes = true);
    cluster.run(10 * rolecall_core::testing::TIMEOUT);
    assert_eq!((cluster.role("o"), cluster.node("o").health()), (Role::None, Health::Observing));
    assert_eq!(cluster.queue(), []);
}

#[test]
fn an_observer_is_disturbed_by_nobody_of_its_id() {
    let mut cluster = three();
    cluster.start_with("o", |config| {
        config.observes = true;
        config.id = "a".into();
    });
    cluster.settle();
    assert_eq!(cluster.node("o").health(), Health::Observing);
}

#[test]
fn a_worker_that_follows_the_workers_knows_them_all() {
    let mut cluster = three();
    cluster.start_with("d", |config| config.follows_workers = true);
    cluster.settle();
    assert_eq!(workers_of(&cluster, "d"), ["b", "c", "d"]);
    let read_once = workers_of(&cluster, "c");

    cluster.settle_without("b");

    assert_eq!(workers_of(&cluster, "d"), ["c", "d"]);
    assert_eq!(workers_of(&cluster, "c"), read_once, "who does not follow them is spared their news");
}

#[test]
fn a_cluster_that_is_not_listed_has_a_leader_all_the_same() {
    let mut cluster = Cluster::new();
    for name in ["a", "b"] {
        cluster.start_with(name, |config| config.registers = false);
    }
    let serves = |cluster: &Cluster, name| (cluster.role(name), cluster.node(name).health());
    cluster.until("both serve", |cluster| {
        serves(cluster, "a") == (Role::Leader, Health::Serving)
            && serves(cluster, "b") == (Role::Worker, Health::Serving)
    });
    cluster.run(rolecall_core::testing::TIMEOUT);
    assert!(cluster.listed(Directory::Workers).is_empty() && cluster.listed(Directory::Coordinators).is_empty());
}
