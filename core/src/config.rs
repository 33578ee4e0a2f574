//! What a node is told once, at its start.

use alloc::sync::Arc;
use core::time::Duration;

/// What to do when the connection to the store is lost while this node leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum OnSuspend {
    /// Lead on until the validity of the term ends: a short loss changes nothing.
    #[default]
    Hold,
    /// Stop at once.
    StepDown,
}

/// The configuration of a [`Node`](crate::Node).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Config {
    /// This node's id, unique in the cluster.
    pub id: Arc<str>,
    /// The store's tick, by which it rounds the end of sessions; a quarter of the session timeout is set aside where it is
    /// unknown.
    pub store_tick: Option<Duration>,
    /// By how much the rate of this node's clock may be wrong, in parts per million.
    pub clock_error_ppm: u32,
    /// How long the gate may take to close once its time has come.
    pub gate_close: Duration,
    /// How long requests in flight may go on when a service is stopped in good order.
    pub drain: Duration,
    /// How long after the end of its drain a service may take to stop before that is a [`Violation`](crate::Violation).
    pub stop_grace: Duration,
    /// How long a service may take to start.
    pub start_limit: Duration,
    /// The limit over the whole of a shutdown.
    pub shutdown_limit: Duration,
    /// How often everything is read again though nothing happened: watches get lost in the field.
    pub relist: Duration,
    /// What to do when the connection is lost.
    pub on_suspend: OnSuspend,
}

impl Config {
    /// The defaults for a node named `id`.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self {
            id: id.into(),
            store_tick: None,
            clock_error_ppm: 10_000,
            gate_close: Duration::from_millis(10),
            drain: Duration::from_secs(5),
            stop_grace: Duration::from_secs(5),
            start_limit: Duration::from_secs(10),
            shutdown_limit: Duration::from_secs(15),
            relist: Duration::from_secs(30),
            on_suspend: OnSuspend::Hold,
        }
    }

    /// How often a leader writes its heartbeat.
    #[must_use]
    pub fn heartbeat(timeout: Duration) -> Duration {
        timeout / 10
    }

    /// What is taken off the session timeout: the heartbeat interval, half a tick of the store (or a quarter of the timeout
    /// where the tick is unknown), the clock's error over the timeout, and the time the gate takes to close.
    #[must_use]
    pub fn margin(&self, timeout: Duration) -> Duration {
        let heard = Self::heartbeat(timeout).saturating_add(self.half_tick(timeout));
        heard.saturating_add(self.drift(timeout)).saturating_add(self.gate_close)
    }

    /// How long a contact of which all servers of the store know keeps the session alive, by this node's clock.
    pub(crate) fn lifetime(&self, timeout: Duration) -> Duration {
        timeout.saturating_sub(self.drift(timeout)).saturating_sub(self.gate_close)
    }

    /// So long after a server has heard a client, by this node's clock, the others know.
    pub(crate) fn told_within(&self, timeout: Duration) -> Duration {
        let half_tick = self.half_tick(timeout);
        half_tick.saturating_add((half_tick / 1_000_000).saturating_mul(self.clock_error_ppm))
    }

    /// For so long the other servers hear nothing of a client that asks for nothing and whose process runs: it pings after
    /// three eighths of its timeout.
    pub(crate) fn silence(&self, timeout: Duration) -> Duration {
        (timeout / 8 * 3).saturating_add(self.half_tick(timeout))
    }

    fn half_tick(&self, timeout: Duration) -> Duration {
        self.store_tick.map_or(timeout / 4, |tick| tick / 2)
    }

    fn drift(&self, timeout: Duration) -> Duration {
        (timeout / 1_000_000).saturating_mul(self.clock_error_ppm)
    }

    /// How long one committed write of a session proves that the session lives; `None` where nothing is left.
    #[must_use]
    pub fn validity(&self, timeout: Duration) -> Option<Duration> {
        timeout.checked_sub(self.margin(timeout)).filter(|left| *left > Self::heartbeat(timeout))
    }
}
