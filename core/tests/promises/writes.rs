//! P11: the writes that each kind of disturbance costs the whole cluster.

use std::time::Duration;

use rolecall_core::store::Act;
use rolecall_core::{Directory, Event};

use crate::three;
use rolecall_core::testing::{Cluster, LATENCY};

/// Number of writes of all nodes, without heartbeats, until a while after the disturbance.
fn cost(disturb: impl FnOnce(&mut Cluster)) -> usize {
    let mut cluster = three();
    let before: usize = cluster.hosts.values().map(rolecall_core::testing::Host::writes).sum();
    disturb(&mut cluster);
    cluster.run(Duration::from_secs(35));
    assert!(cluster.at_rest().is_ok(), "{:?}", cluster.at_rest());
    cluster.hosts.values().map(rolecall_core::testing::Host::writes).sum::<usize>() - before
}

#[test]
fn a_loss_of_the_connection_costs_nothing() {
    assert_eq!(
        cost(|cluster| {
            cluster.cut("a");
            cluster.cut("b");
            cluster.run(100 * LATENCY);
            cluster.heal("a");
            cluster.heal("b");
        }),
        0
    );
}

#[test]
fn notices_and_repeated_reports_cost_nothing() {
    assert_eq!(
        cost(|cluster| {
            let own = cluster.candidate_of("a");
            cluster.operator(Act::RewriteCandidate(own));
            let key = cluster.members(Directory::Workers)[0].key.clone();
            cluster.operator(Act::RewriteMember { directory: Directory::Workers, key });
            cluster.deliver("a", Event::Wake);
        }),
        0
    );
}

#[test]
fn a_leader_that_dies_costs_a_claim_and_two_registrations() {
    assert_eq!(cost(|cluster| cluster.crash("a")), 3);
}

#[test]
fn a_leader_that_ends_costs_its_three_deletions_less_and_those_of_its_successor() {
    // The old leader leaves the coordinators and the queue; its successor claims, leaves the workers and joins the
    // coordinators.
    assert_eq!(cost(|cluster| cluster.deliver("a", Event::Shutdown)), 5);
}

#[test]
fn a_worker_whose_session_ends_costs_a_candidate_and_a_registration() {
    // The node may also delete by name what its old session left, in the queue and in the registry.
    assert!((2..=4).contains(&cost(|cluster| cluster.expire("b"))));
}

#[test]
fn an_entry_that_is_deleted_costs_one_write() {
    assert_eq!(
        cost(|cluster| {
            let key = cluster.members(Directory::Workers)[0].key.clone();
            cluster.operator(Act::DeleteMember { directory: Directory::Workers, key });
        }),
        1
    );
}

#[test]
fn a_resignation_costs_as_much_as_two_changes_of_role() {
    // The old leader leaves, deletes, joins the workers, enters. The new one claims, leaves, joins.
    assert_eq!(cost(|cluster| cluster.deliver("a", Event::Resign)), 7);
}
