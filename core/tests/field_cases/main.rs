//! Cases from the field: events that made widely used systems misbehave. Each test bears the id of its case. The
//! promises about nodes and the cluster are judged on every step as well.

#[allow(dead_code, reason = "shared with other test binaries, which use other parts of it")]
#[path = "../common/world/mod.rs"]
mod world;

mod creation;
mod events;
mod leadership;
mod ownership;
mod registry;
mod shutdown;
mod waiting;

use rolecall_core::Role;
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

fn leads(world: &World, name: &str) -> bool {
    world.role(name) == Role::Leader && world.leaders() == [name]
}
