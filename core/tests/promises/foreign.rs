//! A candidate of another kind of client stands in the queue.

use std::time::Duration;

use rolecall_core::store::Act;
use rolecall_core::{Leader, Role};

use crate::three;
use crate::world::{LATENCY, World};

fn is_foreign(leader: Option<Leader>, who: &str) -> bool {
    leader == Some(Leader::Foreign { id: who.into() })
}

#[test]
fn while_a_foreign_candidate_leads_all_nodes_work_and_say_who_it_is() {
    let mut world = World::new();
    let curator = world.foreign_candidate("curator");
    for name in ["a", "b", "c"] {
        world.start(name);
    }
    world.run(Duration::from_secs(2));
    for name in ["a", "b", "c"] {
        assert_eq!(world.role(name), Role::Worker);
        assert!(is_foreign(world.node(name).leader(), "curator"), "{name}: {:?}", world.node(name).leader());
    }
    world.operator(Act::DeleteCandidate(curator));
    world.settle();
    // The others learn of it from the coordinators.
    world.run(20 * LATENCY);
    for name in ["a", "b", "c"] {
        assert!(matches!(world.node(name).leader(), Some(Leader::Node { .. })), "{name}");
    }
}

#[test]
fn a_foreign_candidate_behind_the_leader_changes_nothing_until_it_is_first() {
    let mut world = three();
    let curator = world.foreign_candidate("curator");
    world.run(Duration::from_secs(40));
    assert_eq!(world.leaders(), ["a"]);
    for name in ["a", "b", "c"] {
        world.crash(name);
        world.start(name);
        world.run(Duration::from_secs(4));
    }
    assert!(world.leaders().is_empty());
    for name in ["a", "b", "c"] {
        assert!(is_foreign(world.node(name).leader(), "curator"), "{name}: {:?}", world.node(name).leader());
    }
    world.operator(Act::DeleteCandidate(curator));
    world.settle();
}

#[test]
fn a_candidate_that_an_operator_puts_before_everybody_is_nobodys_term() {
    let mut world = World::new();
    let curator = world.foreign_candidate("curator");
    world.start("a");
    world.run(Duration::from_secs(1));
    assert!(world.leaders().is_empty());
    world.operator(Act::RewriteCandidate(curator));
    world.run(100 * LATENCY);
    assert!(world.leaders().is_empty());
    world.operator(Act::DeleteCandidate(curator));
    world.settle();
}
