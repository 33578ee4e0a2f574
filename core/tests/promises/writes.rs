//! P11: the writes that each kind of disturbance costs the whole cluster.

use std::time::Duration;

use rolecall_core::store::Act;
use rolecall_core::{Directory, Event};

use crate::three;
use crate::world::{LATENCY, World};

/// Number of writes of all nodes, without heartbeats, until a while after the disturbance.
fn cost(disturb: impl FnOnce(&mut World)) -> usize {
    let mut world = three();
    let before: usize = world.hosts.values().map(crate::world::Host::writes).sum();
    disturb(&mut world);
    world.run(Duration::from_secs(35));
    assert!(world.at_rest().is_ok(), "{:?}", world.at_rest());
    world.hosts.values().map(crate::world::Host::writes).sum::<usize>() - before
}

#[test]
fn a_loss_of_the_connection_costs_nothing() {
    assert_eq!(
        cost(|world| {
            world.cut("a");
            world.cut("b");
            world.run(100 * LATENCY);
            world.heal("a");
            world.heal("b");
        }),
        0
    );
}

#[test]
fn notices_and_repeated_reports_cost_nothing() {
    assert_eq!(
        cost(|world| {
            let own = world.candidate_of("a");
            world.operator(Act::RewriteCandidate(own));
            let key = world.members(Directory::Workers)[0].key.clone();
            world.operator(Act::RewriteMember { directory: Directory::Workers, key });
            world.deliver("a", Event::Wake);
        }),
        0
    );
}

#[test]
fn a_leader_that_dies_costs_a_claim_and_two_registrations() {
    assert_eq!(cost(|world| world.crash("a")), 3);
}

#[test]
fn a_leader_that_ends_costs_its_three_deletions_less_and_those_of_its_successor() {
    // The old leader leaves the coordinators and the queue; its successor claims, leaves the workers and joins the
    // coordinators.
    assert_eq!(cost(|world| world.deliver("a", Event::Shutdown)), 5);
}

#[test]
fn a_worker_whose_session_ends_costs_a_candidate_and_a_registration() {
    // The node may also delete by name what its old session left, in the queue and in the registry.
    assert!((2..=4).contains(&cost(|world| world.expire("b"))));
}

#[test]
fn an_entry_that_is_deleted_costs_one_write() {
    assert_eq!(
        cost(|world| {
            let key = world.members(Directory::Workers)[0].key.clone();
            world.operator(Act::DeleteMember { directory: Directory::Workers, key });
        }),
        1
    );
}

#[test]
fn a_resignation_costs_as_much_as_two_changes_of_role() {
    // The old leader leaves, deletes, joins the workers, enters. The new one claims, leaves, joins.
    assert_eq!(cost(|world| world.deliver("a", Event::Resign)), 7);
}
