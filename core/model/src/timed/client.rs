//! The timed part of a node: its clock, its process and its client of the store.

use std::str::FromStr;
use std::time::Duration;

use rolecall_core::store::Server;

/// Step of time: every instant is a whole number of these after the first.
pub(super) const GRAIN: Duration = Duration::from_millis(200);
/// Largest error of a clock: an eighth, so that a grain is a whole number of milliseconds on every clock.
pub(super) const CLOCK_ERROR_PPM: u32 = 125_000;

/// The rate of a node's clock, always within the configured error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rate {
    /// As slow as the configuration allows.
    Slow,
    /// Exact.
    Exact,
    /// As fast as the configuration allows.
    Fast,
}

/// An unknown name of a rate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown rate `{given}` of a clock: give slow, exact or fast")]
pub struct UnknownRate {
    given: String,
}

impl FromStr for Rate {
    type Err = UnknownRate;

    fn from_str(text: &str) -> Result<Self, UnknownRate> {
        let named = Self::ALL.iter().find(|rate| rate.name() == text);
        named.copied().ok_or_else(|| UnknownRate { given: text.to_owned() })
    }
}

impl Rate {
    pub(super) const EXTREMES: &[Self] = &[Self::Slow, Self::Fast];
    pub(super) const ALL: &[Self] = &[Self::Slow, Self::Exact, Self::Fast];

    const fn eighths(self) -> u32 {
        match self {
            Self::Slow => 7,
            Self::Exact => 8,
            Self::Fast => 9,
        }
    }

    /// Advance of this clock during a true time.
    pub(super) fn shown(self, time: Duration) -> Duration {
        time / 8 * self.eighths()
    }

    /// True time in which this clock advances by `shown`.
    pub(super) fn true_length(self, shown: Duration) -> Duration {
        shown * 8 / self.eighths()
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Exact => "exact",
            Self::Fast => "fast",
        }
    }
}

/// A node's process and its client of the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Client {
    pub(super) rate: Rate,
    /// Time since the process paused; its clock goes on.
    pub(super) paused: Option<Duration>,
    /// The server of the current connection, or of the last one.
    pub(super) server: Server,
    /// Time since the store last heard from it.
    pub(super) idle: Duration,
    /// Time since it was last connected, within one [`LASTING`](super::LASTING).
    pub(super) away: Duration,
    /// Time since its link died, while it does not know yet.
    pub(super) unaware: Option<Duration>,
}

impl Client {
    pub(super) const fn new(rate: Rate, server: Server) -> Self {
        Self { rate, paused: None, server, idle: Duration::ZERO, away: Duration::ZERO, unaware: None }
    }
}
