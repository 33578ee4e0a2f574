//! The times that decide when an election by a queue is safe.

use core::time::Duration;

use crate::Config;

/// A store's times, from which a node judges for how long a committed write proves its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[non_exhaustive]
pub struct QueueTiming {
    /// The store's tick, by which it rounds the end of sessions. Default: unknown; then a quarter of the session
    /// timeout is set aside instead of half a tick.
    pub store_tick: Option<Duration>,
}

impl QueueTiming {
    /// Times of a store with this tick, or with an unknown one.
    #[must_use]
    pub const fn new(store_tick: Option<Duration>) -> Self {
        Self { store_tick }
    }

    /// Margin: the heartbeat interval, half a tick of the store (or a quarter of the timeout if the tick is unknown),
    /// the clock's error over the timeout, and the time that the gate takes to close.
    pub(crate) fn margin(self, config: &Config, timeout: Duration) -> Duration {
        let heard = Config::heartbeat(timeout).saturating_add(self.half_tick(timeout));
        heard.saturating_add(config.drift(timeout)).saturating_add(config.gate_close)
    }

    /// Longest delay with which the store ends a session: it rounds up to whole ticks, and its servers may elect a new
    /// leader meanwhile.
    pub(crate) fn rounding(self, timeout: Duration) -> Duration {
        self.store_tick.map_or(timeout / 2, |tick| tick.saturating_mul(2))
    }

    /// Time that a contact known to all servers of the store keeps the session alive, by this node's clock.
    pub(super) fn lifetime(config: &Config, timeout: Duration) -> Duration {
        timeout.saturating_sub(config.drift(timeout)).saturating_sub(config.gate_close)
    }

    /// Time until the other servers know of a client that one server has heard, by this node's clock.
    pub(super) fn told_within(self, config: &Config, timeout: Duration) -> Duration {
        let half_tick = self.half_tick(timeout);
        half_tick.saturating_add(config.drift(half_tick))
    }

    /// Longest silence that the other servers can see from a healthy idle client: it pings after 3/8 of its timeout.
    pub(super) fn silence(self, timeout: Duration) -> Duration {
        (timeout / 8 * 3).saturating_add(self.half_tick(timeout))
    }

    fn half_tick(self, timeout: Duration) -> Duration {
        self.store_tick.map_or(timeout / 4, |tick| tick / 2)
    }
}
