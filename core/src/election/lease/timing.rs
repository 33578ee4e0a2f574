//! The times that decide when an election by a lease is safe.

use core::time::Duration;

use crate::Config;

/// A store's times, from which a node judges for how long an acquired or renewed lease is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[non_exhaustive]
pub struct LeaseTiming {
    /// Steps forward that the server's wall clock may make within one lease, each of any length. The store's clock lets
    /// each shorten a lease by a quarter, which is set aside. Default: 1.
    pub clock_steps: u8,
}

impl LeaseTiming {
    /// Times of a store whose clock makes one step within a lease at most.
    #[must_use]
    pub const fn new() -> Self {
        Self { clock_steps: 1 }
    }

    /// Margin: a quarter of the lease for each step of the store's clock and a millisecond for its grain, the errors of
    /// both clocks over the lease, and the time that the gate takes to close.
    pub(crate) fn margin(self, config: &Config, ttl: Duration) -> Duration {
        let steps = (ttl / 4).saturating_mul(u32::from(self.clock_steps)).saturating_add(Self::GRAIN);
        steps.saturating_add(config.drift(ttl).saturating_mul(2)).saturating_add(config.gate_close)
    }

    /// Longest delay with which the store ends a session: its clock goes on only when somebody calls.
    pub(crate) fn rounding(timeout: Duration) -> Duration {
        timeout / 4
    }

    /// Grain of the store's clock.
    pub(super) const GRAIN: Duration = Duration::from_millis(1);
}

impl Default for LeaseTiming {
    fn default() -> Self {
        Self::new()
    }
}
