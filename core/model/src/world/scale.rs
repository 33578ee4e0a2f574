//! Durations in a world.

use std::time::Duration;

use rolecall_core::Family;
use rolecall_core::election::Timing;
use rolecall_core::store::{self, Machine};

/// Settings that all nodes and the store share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Scale {
    /// Family of the election, which decides what the store keeps.
    pub(crate) family: Family,
    /// Session timeout of every node.
    pub(crate) timeout: Duration,
    /// The store's tick, which the nodes know. A store that keeps a lease has none.
    pub(crate) tick: Duration,
    pub(crate) servers: u8,
    pub(crate) clock_error_ppm: u32,
    /// Place of the first node that only looks on.
    pub(crate) first_observer: u8,
}

impl Scale {
    pub(crate) const UNTIMED: Self = Self {
        family: Family::Queue,
        timeout: Duration::from_secs(2),
        tick: Duration::from_millis(200),
        servers: 1,
        clock_error_ppm: 10_000,
        first_observer: u8::MAX,
    };

    /// An empty store.
    pub(crate) fn store(&self) -> Machine {
        match self.family {
            Family::Queue => Machine::new(store::Timing::bounded(self.tick), self.servers),
            Family::Lease => Machine::with_lease(store::Timing::unbounded(Duration::ZERO)),
        }
    }

    /// Times of the store, as the nodes know them.
    pub(crate) fn election(&self) -> Timing {
        match self.family {
            Family::Queue => Timing::queue(self.tick),
            Family::Lease => Timing::LEASE,
        }
    }
}
