//! A candidate of another kind of client stands in the queue.

use std::time::Duration;

use rolecall_core::store::Act;
use rolecall_core::{Candidate, Guid, Leader, Role};

use crate::three;
use rolecall_core::testing::{Cluster, LATENCY};

fn is_foreign(leader: Option<Leader>, who: &str) -> bool {
    leader == Some(Leader::Foreign { id: who.into() })
}

#[test]
fn while_a_foreign_candidate_leads_all_nodes_work_and_say_who_it_is() {
    let mut cluster = Cluster::new();
    let curator = cluster.foreign_candidate("curator").expect("the store runs");
    for name in ["a", "b", "c"] {
        cluster.start(name);
    }
    cluster.run(Duration::from_secs(2));
    for name in ["a", "b", "c"] {
        assert_eq!(cluster.role(name), Role::Worker);
        assert!(is_foreign(cluster.node(name).leader(), "curator"), "{name}: {:?}", cluster.node(name).leader());
    }
    cluster.operator(Act::DeleteCandidate(curator));
    cluster.settle();
    // The others learn of it from the coordinators.
    cluster.run(20 * LATENCY);
    for name in ["a", "b", "c"] {
        assert!(matches!(cluster.node(name).leader(), Some(Leader::Node { .. })), "{name}");
    }
}

#[test]
fn a_foreign_candidate_behind_the_leader_changes_nothing_until_it_is_first() {
    let mut cluster = three();
    let curator = cluster.foreign_candidate("curator").expect("the store runs");
    cluster.run(Duration::from_secs(40));
    assert_eq!(cluster.leaders(), ["a"]);
    for name in ["a", "b", "c"] {
        cluster.crash(name);
        cluster.start(name);
        cluster.run(Duration::from_secs(4));
    }
    assert!(cluster.leaders().is_empty());
    for name in ["a", "b", "c"] {
        assert!(is_foreign(cluster.node(name).leader(), "curator"), "{name}: {:?}", cluster.node(name).leader());
    }
    cluster.operator(Act::DeleteCandidate(curator));
    cluster.settle();
}

#[test]
fn a_candidate_that_an_operator_puts_before_everybody_is_nobodys_term() {
    let mut cluster = Cluster::new();
    let curator = cluster.foreign_candidate("curator").expect("the store runs");
    cluster.start("a");
    cluster.run(Duration::from_secs(1));
    assert!(cluster.leaders().is_empty());
    cluster.operator(Act::RewriteCandidate(curator));
    cluster.run(100 * LATENCY);
    assert!(cluster.leaders().is_empty());
    cluster.operator(Act::DeleteCandidate(curator));
    cluster.settle();
}

#[test]
fn a_candidate_that_no_session_owns_stands_in_nobodys_way() {
    let mut cluster = Cluster::new();
    let leftover = cluster.ownerless_candidate(Guid(0x0123_abcd));
    cluster.start_in_order(&["a", "b", "c"]);
    cluster.settle();
    assert_eq!(cluster.leaders(), ["a"]);
    let between = cluster.ownerless_candidate(Guid::ours(5));
    cluster.start("d");
    cluster.settle();
    cluster.settle_without("a");
    // Everybody has the same order: the next in the queue leads, though two of those before it stand for nobody.
    assert_eq!(cluster.leaders(), ["b"]);
    for name in ["b", "c", "d"] {
        assert_eq!(cluster.node(name).skipped().0, if name == "d" { 2 } else { 1 }, "{name}");
    }
    // Whoever inspects it says so, once.
    cluster.run(Duration::from_secs(100));
    let said = |candidate: Candidate| {
        cluster.trace.text().matches(&format!("candidate {} is nobody's", candidate.sequence)).count()
    };
    assert_eq!((said(leftover), said(between)), (4, 1));
}

#[test]
fn a_candidate_that_no_session_owns_is_counted_until_it_is_deleted() {
    let mut cluster = Cluster::new();
    let leftover = cluster.ownerless_candidate(Guid(7));
    cluster.start_in_order(&["a", "b"]);
    assert_eq!(["a", "b"].map(|name| cluster.node(name).skipped().0), [1, 1]);
    cluster.operator(Act::DeleteCandidate(leftover));
    cluster.run(Duration::from_secs(40));
    assert_eq!(["a", "b"].map(|name| cluster.node(name).skipped().0), [0, 0]);
    cluster.settle();
}

#[test]
fn a_copy_of_a_nodes_own_candidate_that_no_session_owns_is_not_taken_for_it() {
    let mut cluster = three();
    let own = cluster.candidate_of("a");
    cluster.ownerless_candidate(own.guid.expect("a node's candidate has a guid"));
    cluster.operator(Act::DeleteCandidate(own));
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
    // It is read before anything is built on it.
    cluster.crash("b");
    cluster.crash("c");
    cluster.settle();
    assert_eq!(cluster.leaders(), ["a"]);
}
