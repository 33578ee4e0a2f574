//! What the design says of role transitions, of staying right about leadership, and of each promise.

#[allow(dead_code, reason = "shared with other test binaries, which use other parts of it")]
#[path = "../common/world/mod.rs"]
mod world;

mod extremes;
mod foreign;
mod identity;
mod operators;
mod roles;
mod shutdown;
mod terms;
mod times;
mod writes;

use world::World;

/// Three nodes at rest, of which `a` leads.
fn three() -> World {
    let mut world = World::new();
    world.start_in_order(&["a", "b", "c"]);
    world.settle();
    assert_eq!(world.leaders(), ["a"]);
    world.fresh_trace();
    world
}

/// That these pieces stand in the trace, in this order.
fn in_order(world: &World, pieces: &[&str]) {
    let text = world.trace.text();
    let mut rest = text;
    for piece in pieces {
        let Some((_, after)) = rest.split_once(piece) else { panic!("no {piece:?} where it should be in\n{text}") };
        rest = after;
    }
}
