//! Two nodes with the same id.

use std::time::Duration;

use rolecall_core::{Directory, Objection, Role};

use crate::three;
use crate::world::{LATENCY, Outcome, TICK, TIMEOUT, World};

fn taken() -> Outcome {
    Outcome::Refused(Objection::IdentityTaken { address: "b:80".into() })
}

#[test]
fn a_node_whose_id_is_taken_waits_as_long_as_a_dead_one_could_last_and_then_refuses() {
    let mut world = three();
    let began = world.now;
    world.start_with("twin", |config| config.id = "b".into());
    world.until("refused", |world| world.hosts["twin"].outcome != Outcome::Runs);
    assert_eq!(world.hosts["twin"].outcome, taken());
    let waited = world.now.since(began);
    assert!(waited >= TIMEOUT + 2 * TICK && waited < TIMEOUT + 3 * TICK, "{waited:?}");
    // It has touched nothing of the other node, and leaves nothing of its own.
    assert_eq!(world.hosts["twin"].writes(), 0);
    world.run(10 * LATENCY);
    assert_eq!((world.role("b"), world.listed(Directory::Workers)), (Role::Worker, vec!["b".into(), "c".into()]));
    assert_eq!(world.queue().len(), 3);
}

#[test]
fn a_node_waits_for_its_own_former_life_to_end_and_then_serves() {
    let mut world = three();
    world.crash("b");
    world.start("b");
    world.run(TIMEOUT / 2);
    assert_eq!((world.role("b"), world.hosts["b"].writes()), (Role::None, 0));
    world.settle();
}

#[test]
fn of_two_nodes_of_one_id_that_start_together_exactly_one_refuses() {
    for late_by in 0..30 {
        let mut world = World::new();
        world.start_in_order(&["a"]);
        world.start("b");
        world.run(Duration::from_millis(late_by));
        world.start_with("twin", |config| config.id = "b".into());
        world.run(5 * TIMEOUT);
        let outcomes = ["b", "twin"].map(|name| world.hosts[name].outcome.clone());
        let refused = outcomes.iter().filter(|outcome| **outcome == taken()).count();
        let running = outcomes.iter().filter(|outcome| **outcome == Outcome::Runs).count();
        assert_eq!((refused, running), (1, 1), "{late_by} ms later: {outcomes:?}\n{}", world.trace.text());
        assert_eq!(world.listed(Directory::Workers), ["b"]);
        assert_eq!(world.queue().len(), 2);
    }
}
