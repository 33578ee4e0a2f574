//! The configuration of a node, fixed at its start.

use alloc::sync::Arc;
use core::time::Duration;

use crate::election::Timing;

/// Reaction of a leader to the loss of its connection to the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[non_exhaustive]
pub enum OnSuspend {
    /// Lead on until the validity of the term ends. A short loss changes nothing.
    #[default]
    Hold,
    /// Step down at once.
    StepDown,
}

/// The configuration of a [`Node`](crate::Node). Its fields are set one by one, since more may come:
///
/// ```
/// use core::time::Duration;
/// use rolecall_core::{Config, election::Timing};
///
/// let mut config = Config::new("node-a");
/// config.election = Timing::queue(Duration::from_secs(2));
/// config.drain = Duration::from_secs(1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[non_exhaustive]
pub struct Config {
    /// Id of this node, unique in the cluster.
    pub id: Arc<str>,
    /// Times of the store that decide when the election is safe, by the election's family. Default: a queue on a store
    /// whose tick is unknown.
    pub election: Timing,
    /// Largest error of the clock's rate, in parts per million. Default: 10,000.
    pub clock_error_ppm: u32,
    /// Longest time that the gate takes to close. Default: 10 ms.
    pub gate_close: Duration,
    /// Time that requests in flight get when a service is stopped in good order. Default: 5 s.
    pub drain: Duration,
    /// Time that a service gets to stop after its drain, before that becomes a [`Violation`](crate::Violation).
    /// Default: 5 s.
    pub stop_grace: Duration,
    /// Time that a service gets to start. Default: 10 s.
    pub start_limit: Duration,
    /// Limit of a whole shutdown. Default: 15 s.
    pub shutdown_limit: Duration,
    /// Interval at which everything is read again even if nothing happened, since watches get lost in the field.
    /// Default: 30 s.
    pub relist: Duration,
    /// Reaction to the loss of the connection. Default: [`OnSuspend::Hold`].
    pub on_suspend: OnSuspend,
    /// True if this node only observes: it follows who leads and who works, but never stands, serves no role, and
    /// registers nothing. Default: false.
    pub observes: bool,
    /// True if this node is listed in the directories under its role. Without that nobody finds it there, and two nodes
    /// with the same id go unnoticed. Default: true.
    pub registers: bool,
    /// True if this node follows the directory of workers in every role; a leader and an observer always do. Default:
    /// false.
    pub follows_workers: bool,
    /// Settings that all nodes of the cluster must share. The first node writes them to the store. A node that finds
    /// other settings there refuses to take part, as does one to which the store has denied them for ten seconds.
    /// Default: none.
    pub settings: Option<Arc<str>>,
    /// True if this node, while it leads, heeds what operators wish for in the store. Default: true.
    pub heeds_wishes: bool,
}

impl Config {
    /// The defaults for a node named `id`.
    #[must_use]
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self {
            id: id.into(),
            election: Timing::QUEUE,
            clock_error_ppm: 10_000,
            gate_close: Duration::from_millis(10),
            drain: Duration::from_secs(5),
            stop_grace: Duration::from_secs(5),
            start_limit: Duration::from_secs(10),
            shutdown_limit: Duration::from_secs(15),
            relist: Duration::from_secs(30),
            on_suspend: OnSuspend::Hold,
            observes: false,
            registers: true,
            follows_workers: false,
            settings: None,
            heeds_wishes: true,
        }
    }

    /// Interval between a leader's heartbeats.
    #[must_use]
    pub fn heartbeat(timeout: Duration) -> Duration {
        timeout / 10
    }

    /// Part of the session timeout that is set aside, as the election's family requires.
    #[must_use]
    pub fn margin(&self, timeout: Duration) -> Duration {
        self.election.margin(self, timeout)
    }

    /// Time for which one committed write proves that its session lives; `None` if the margin leaves nothing.
    #[must_use]
    pub fn validity(&self, timeout: Duration) -> Option<Duration> {
        timeout.checked_sub(self.margin(timeout)).filter(|left| *left > Self::heartbeat(timeout))
    }

    /// Largest error of this node's clock over `duration`.
    pub(crate) fn drift(&self, duration: Duration) -> Duration {
        (duration / 1_000_000).saturating_mul(self.clock_error_ppm)
    }
}
