//! How long things last in a world.

use std::time::Duration;

/// What is configured the same for all nodes and the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Scale {
    /// The session timeout of every node.
    pub(crate) timeout: Duration,
    /// What store and nodes know the store's tick to be.
    pub(crate) tick: Duration,
    pub(crate) servers: u8,
    pub(crate) clock_error_ppm: u32,
}

impl Scale {
    pub(crate) const UNTIMED: Self =
        Self { timeout: Duration::from_secs(2), tick: Duration::from_millis(200), servers: 1, clock_error_ppm: 10_000 };
}
