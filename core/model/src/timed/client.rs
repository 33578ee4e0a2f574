//! What time makes of one node and its client of the store.

use std::str::FromStr;
use std::time::Duration;

use rolecall_core::store::Server;

/// Every instant is a whole number of these after the first.
pub(super) const GRAIN: Duration = Duration::from_millis(200);
/// By how much a clock may be wrong: an eighth, so that a grain is a whole number of everybody's milliseconds.
pub(super) const CLOCK_ERROR_PPM: u32 = 125_000;

/// How a node's clock goes, always within the error that is configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rate {
    /// As slow as it may be.
    Slow,
    /// Exact.
    Exact,
    /// As fast as it may be.
    Fast,
}

/// A rate that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no way for a clock to go: give slow, exact or fast")]
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

    /// By how much a clock goes on in a time.
    pub(super) fn shown(self, time: Duration) -> Duration {
        time / 8 * self.eighths()
    }

    /// How long it takes until a clock has gone on by so much.
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

/// A node's client of the store, and its process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Client {
    pub(super) rate: Rate,
    /// For how long its process has done nothing, while its clock went on.
    pub(super) paused: Option<Duration>,
    /// To which server it is connected, or was last.
    pub(super) server: Server,
    /// How long the store has not heard from it.
    pub(super) idle: Duration,
    /// For how long it has not been connected, within one [`LASTING`](super::LASTING).
    pub(super) away: Duration,
    /// Since when its link is dead, which it does not know yet.
    pub(super) unaware: Option<Duration>,
}

impl Client {
    pub(super) const fn new(rate: Rate, server: Server) -> Self {
        Self { rate, paused: None, server, idle: Duration::ZERO, away: Duration::ZERO, unaware: None }
    }
}
