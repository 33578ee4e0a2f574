//! Durations in a world.

use std::time::Duration;

/// Settings that all nodes and the store share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Scale {
    /// Session timeout of every node.
    pub(crate) timeout: Duration,
    /// The store's tick, which the nodes know.
    pub(crate) tick: Duration,
    pub(crate) servers: u8,
    pub(crate) clock_error_ppm: u32,
    /// Place of the first node that only looks on.
    pub(crate) first_observer: u8,
}

impl Scale {
    pub(crate) const UNTIMED: Self = Self {
        timeout: Duration::from_secs(2),
        tick: Duration::from_millis(200),
        servers: 1,
        clock_error_ppm: 10_000,
        first_observer: u8::MAX,
    };
}
