//! The design's rules for role transitions, for staying right about leadership, and for each promise.

#[allow(dead_code, reason = "shared with other test binaries, which use other parts of it")]
#[path = "../common/world/mod.rs"]
mod world;

mod candidacy;
mod extremes;
mod foreign;
mod identity;
mod operators;
mod part;
mod roles;
mod settings;
mod shutdown;
mod terms;
mod times;
mod writes;

use world::World;

/// Three nodes at rest, led by `a`.
fn three() -> World {
    let mut world = World::new();
    world.start_in_order(&["a", "b", "c"]);
    world.settle();
    assert_eq!(world.leaders(), ["a"]);
    world.fresh_trace();
    world
}

/// Checks that the trace contains these pieces, in this order.
fn in_order(world: &World, pieces: &[&str]) {
    let text = world.trace.text();
    let mut rest = text;
    for piece in pieces {
        let Some((_, after)) = rest.split_once(piece) else { panic!("no {piece:?} where it should be in\n{text}") };
        rest = after;
    }
}
