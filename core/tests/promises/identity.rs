//! Two nodes with the same id.

use std::time::Duration;

use rolecall_core::{Directory, Objection, Role};

use crate::three;
use rolecall_core::testing::{Cluster, LATENCY, Outcome, TICK, TIMEOUT};

fn taken() -> Outcome {
    Outcome::Refused(Objection::IdentityTaken { address: "b:80".into() })
}

#[test]
fn a_node_whose_id_is_taken_waits_as_long_as_a_dead_one_could_last_and_then_refuses() {
    let mut cluster = three();
    let began = cluster.now;
    cluster.start_with("twin", |config| config.id = "b".into());
    cluster.until("refused", |cluster| cluster.hosts["twin"].outcome != Outcome::Runs);
    assert_eq!(cluster.hosts["twin"].outcome, taken());
    let waited = cluster.now.since(began);
    assert!(waited >= TIMEOUT + 2 * TICK && waited < TIMEOUT + 3 * TICK, "{waited:?}");
    // It has touched nothing of the other node, and leaves nothing of its own.
    assert_eq!(cluster.hosts["twin"].writes(), 0);
    cluster.run(10 * LATENCY);
    assert_eq!((cluster.role("b"), cluster.listed(Directory::Workers)), (Role::Worker, vec!["b".into(), "c".into()]));
    assert_eq!(cluster.queue().len(), 3);
}

#[test]
fn a_node_waits_for_its_own_former_life_to_end_and_then_serves() {
    let mut cluster = three();
    cluster.crash("b");
    cluster.start("b");
    cluster.run(TIMEOUT / 2);
    assert_eq!((cluster.role("b"), cluster.hosts["b"].writes()), (Role::None, 0));
    cluster.settle();
}

#[test]
fn of_two_nodes_of_one_id_that_start_together_exactly_one_refuses() {
    for late_by in 0..30 {
        let mut cluster = Cluster::new();
        cluster.start_in_order(&["a"]);
        cluster.start("b");
        cluster.run(Duration::from_millis(late_by));
        cluster.start_with("twin", |config| config.id = "b".into());
        cluster.run(5 * TIMEOUT);
        let outcomes = ["b", "twin"].map(|name| cluster.hosts[name].outcome.clone());
        let refused = outcomes.iter().filter(|outcome| **outcome == taken()).count();
        let running = outcomes.iter().filter(|outcome| **outcome == Outcome::Runs).count();
        assert_eq!((refused, running), (1, 1), "{late_by} ms later: {outcomes:?}\n{}", cluster.trace.text());
        assert_eq!(cluster.listed(Directory::Workers), ["b"]);
        assert_eq!(cluster.queue().len(), 2);
    }
}
