//! What made widely used systems misbehave, met by this core. Each test bears the id of the case that it comes from; the
//! promises about nodes and cluster are judged on every step besides.

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

/// Three nodes at rest, of which `a` leads.
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
