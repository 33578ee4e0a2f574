//! Rolecall's own nodes, each with its client, and the store that they share.

mod message;
mod node;
mod store;

use alloc::boxed::Box;
use alloc::format;
use core::time::Duration;

use self::node::OurNode;
use self::store::OurStore;
use super::network::Transport;
use super::world::{Part, World};
use super::{Run, Setting};
use crate::Config;
use crate::election::Timing;
use crate::election::textbook::Peer;
use crate::store::{Machine, Timing as StoreTiming};

/// Session timeout that the nodes ask for.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Tick of the store.
const TICK: Duration = Duration::from_secs(2);

/// A family of elections: the times of its nodes, and its store.
pub(super) struct Family {
    timing: Timing,
    store: Machine,
}

/// Elections by a queue.
pub(super) fn queue() -> Family {
    Family { timing: Timing::queue(TICK), store: Machine::new(StoreTiming::bounded(TICK), 1) }
}

/// Elections by a lease. Its time to live is the session timeout.
pub(super) fn lease() -> Family {
    Family { timing: Timing::LEASE, store: Machine::with_lease(StoreTiming::unbounded(Duration::ZERO)) }
}

/// Simulates one run of a family.
pub(super) fn run(setting: &Setting, seed: u64, family: Family) -> Run {
    let ping = family.store.ping_interval(TIMEOUT);
    let node = |number| -> Part<_> {
        let mut config = Config::new(format!("n{number}"));
        config.election = family.timing;
        // The exhibits have no registries, so these are left out of the comparison.
        config.registers = false;
        (Peer(number), Box::new(OurNode::new(config, ping)))
    };
    let store: Part<_> = (Peer::STORE, Box::new(OurStore::new(family.store)));
    World::run(setting, seed, Transport::Stream, core::iter::once(store).chain((0..setting.nodes).map(node)))
}
