//! What a node is told once, at its start.

use alloc::sync::Arc;
use core::time::Duration;

use crate::election::Timing;

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
    /// Times of the store by which the election is safe, by the election's family. Default: a queue on a store whose tick is
    /// unknown.
    pub election: Timing,
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
    /// True if this node only looks on: it follows who leads and who works, never stands, serves no role, and registers
    /// nothing. Default: false.
    pub observes: bool,
    /// True if this node is listed in the directories by its role. Without that, nobody finds it there, and two nodes of one
    /// id are not found out. Default: true.
    pub registers: bool,
    /// True if this node follows the directory of workers whatever its role; a leader and an observer always do. Default:
    /// false.
    pub follows_workers: bool,
    /// Settings that all nodes of the cluster must have in common. The first node writes them to the store. A node that finds
    /// others there refuses to take part, as does one to which the store has denied them for ten seconds. Default: none.
    pub settings: Option<Arc<str>>,
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
        }
    }

    /// How often a leader writes its heartbeat.
    #[must_use]
    pub fn heartbeat(timeout: Duration) -> Duration {
        timeout / 10
    }

    /// Part of the session timeout that is set aside, as the election's family requires.
    #[must_use]
    pub fn margin(&self, timeout: Duration) -> Duration {
        self.election.margin(self, timeout)
    }

    /// Time for which one committed write of a session proves that the session lives; `None` where nothing is left.
    #[must_use]
    pub fn validity(&self, timeout: Duration) -> Option<Duration> {
        timeout.checked_sub(self.margin(timeout)).filter(|left| *left > Self::heartbeat(timeout))
    }

    /// Error of this node's clock over `duration`, at worst.
    pub(crate) fn drift(&self, duration: Duration) -> Duration {
        (duration / 1_000_000).saturating_mul(self.clock_error_ppm)
    }
}
