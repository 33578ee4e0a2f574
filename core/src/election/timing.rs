//! The times that decide when elections are safe, by family.

use core::time::Duration;

use super::Family;
use super::lease::LeaseTiming;
use super::queue::QueueTiming;
use crate::Config;

/// A store's times, by the family of its election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[non_exhaustive]
pub enum Timing {
    /// A queue of candidates that live as long as their sessions.
    Queue(QueueTiming),
    /// A lease with a time to live, which is the session timeout.
    Lease(LeaseTiming),
}

impl Timing {
    /// Times of a queue on a store whose tick is unknown.
    pub const QUEUE: Self = Self::Queue(QueueTiming::new(None));

    /// Times of a lease on a store whose clock makes one step forward within a lease at most.
    pub const LEASE: Self = Self::Lease(LeaseTiming::new());

    /// Times of a queue on a store with this tick.
    #[must_use]
    pub const fn queue(store_tick: Duration) -> Self {
        Self::Queue(QueueTiming::new(Some(store_tick)))
    }

    /// Family of the election.
    #[must_use]
    pub const fn family(self) -> Family {
        match self {
            Self::Queue(_) => Family::Queue,
            Self::Lease(_) => Family::Lease,
        }
    }

    pub(crate) fn margin(self, config: &Config, timeout: Duration) -> Duration {
        match self {
            Self::Queue(timing) => timing.margin(config, timeout),
            Self::Lease(timing) => timing.margin(config, timeout),
        }
    }

    /// Longest delay with which the store ends a session.
    pub(crate) fn rounding(self, timeout: Duration) -> Duration {
        match self {
            Self::Queue(timing) => timing.rounding(timeout),
            Self::Lease(_) => LeaseTiming::rounding(timeout),
        }
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self::QUEUE
    }
}
