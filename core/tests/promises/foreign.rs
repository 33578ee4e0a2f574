//! A candidate of another kind of client stands in the queue.

use std::time::Duration;

use rolecall_core::store::Act;
use rolecall_core::{Candidate, Guid, Leader, Role};

use crate::three;
use crate::world::{LATENCY, World};

fn is_foreign(leader: Option<Leader>, who: &str) -> bool {
    leader == Some(Leader::Foreign { id: who.into() })
}

#[test]
fn while_a_foreign_candidate_leads_all_nodes_work_and_say_who_it_is() {
    let mut world = World::new();
    let curator = world.foreign_candidate("curator").expect("the store runs");
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
    let curator = world.foreign_candidate("curator").expect("the store runs");
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
    let curator = world.foreign_candidate("curator").expect("the store runs");
    world.start("a");
    world.run(Duration::from_secs(1));
    assert!(world.leaders().is_empty());
    world.operator(Act::RewriteCandidate(curator));
    world.run(100 * LATENCY);
    assert!(world.leaders().is_empty());
    world.operator(Act::DeleteCandidate(curator));
    world.settle();
}

#[test]
fn a_candidate_that_no_session_owns_stands_in_nobodys_way() {
    let mut world = World::new();
    let leftover = world.ownerless_candidate(Guid(0x0123_abcd));
    world.start_in_order(&["a", "b", "c"]);
    world.settle();
    assert_eq!(world.leaders(), ["a"]);
    let between = world.ownerless_candidate(Guid::ours(5));
    world.start("d");
    world.settle();
    world.settle_without("a");
    // Everybody has the same order: the next in the queue leads, though two of those before it stand for nobody.
    assert_eq!(world.leaders(), ["b"]);
    for name in ["b", "c", "d"] {
        assert_eq!(world.node(name).skipped().0, if name == "d" { 2 } else { 1 }, "{name}");
    }
    // Whoever inspects it says so, once.
    world.run(Duration::from_secs(100));
    let said = |candidate: Candidate| {
        world.trace.text().matches(&format!("candidate {} is nobody's", candidate.sequence)).count()
    };
    assert_eq!((said(leftover), said(between)), (4, 1));
}

#[test]
fn a_candidate_that_no_session_owns_is_counted_until_it_is_deleted() {
    let mut world = World::new();
    let leftover = world.ownerless_candidate(Guid(7));
    world.start_in_order(&["a", "b"]);
    assert_eq!(["a", "b"].map(|name| world.node(name).skipped().0), [1, 1]);
    world.operator(Act::DeleteCandidate(leftover));
    world.run(Duration::from_secs(40));
    assert_eq!(["a", "b"].map(|name| world.node(name).skipped().0), [0, 0]);
    world.settle();
}

#[test]
fn a_copy_of_a_nodes_own_candidate_that_no_session_owns_is_not_taken_for_it() {
    let mut world = three();
    let own = world.candidate_of("a");
    world.ownerless_candidate(own.guid.expect("a node's candidate has a guid"));
    world.operator(Act::DeleteCandidate(own));
    world.until("b led", |world| world.role("b") == Role::Leader);
    // It is read before anything is built on it.
    world.crash("b");
    world.crash("c");
    world.settle();
    assert_eq!(world.leaders(), ["a"]);
}
