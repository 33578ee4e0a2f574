//! Lengths of sessions.

use core::time::Duration;

use crate::Time;

/// The store's tick, and its bounds for session timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Timing {
    /// The end of a session is rounded up to a whole number of ticks. Zero rounds nothing.
    pub tick: Duration,
    /// True if timeouts are kept between 2 and 20 ticks.
    pub bounded: bool,
}

impl Timing {
    /// ZooKeeper's rules with the given tick (its default is 2 s).
    #[must_use]
    pub const fn bounded(tick: Duration) -> Self {
        Self { tick, bounded: true }
    }

    /// Every timeout is granted as requested.
    #[must_use]
    pub const fn unbounded(tick: Duration) -> Self {
        Self { tick, bounded: false }
    }

    pub(super) fn negotiate(&self, wanted: Duration) -> Duration {
        if self.bounded { wanted.clamp(self.tick.saturating_mul(2), self.tick.saturating_mul(20)) } else { wanted }
    }

    /// Longest time until a server tells the others which clients it heard.
    pub(super) fn half_tick(&self) -> Duration {
        self.tick / 2
    }

    /// End of a session that was last heard at `heard`: always later than `heard + timeout`, by at most a tick.
    pub(super) fn expiry(&self, heard: Time, timeout: Duration) -> Time {
        let exact = heard + timeout;
        match u64::try_from(self.tick.as_nanos()) {
            Ok(0) | Err(_) => exact,
            Ok(tick) => Time::from_nanos((exact.as_nanos() / tick).saturating_add(1).saturating_mul(tick)),
        }
    }
}
