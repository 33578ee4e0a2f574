//! Lines of a journal, in a format that has a version.
//!
//! Nothing in it is the layout of a private type. A journal holds a node's configuration and events, so it can be replayed even
//! after the state machine has been rebuilt from the ground up.

use core::time::Duration;

use rolecall_core::election::Timing;
use rolecall_core::{Action, Config, Event, Family, OnSuspend, Time};
use serde::{Deserialize, Serialize};

/// Version of the format. It rises when lines change their meaning or their form.
pub const VERSION: u32 = 1;
/// Families of elections that this version can replay.
const FAMILIES: [Family; 2] = [Family::Queue, Family::Lease];

/// First line of each file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format.
    pub journal: u32,
    /// Version of `rolecall-core` that decided.
    pub core: String,
    /// Family of elections: `queue` or `lease`.
    pub family: String,
}

impl Header {
    /// The header that this version writes for a node whose election is of this family.
    #[must_use]
    pub fn new(election: Timing) -> Self {
        let family = election.family().to_string();
        Self { journal: VERSION, core: rolecall_core::VERSION.to_owned(), family }
    }

    /// True if this version can read what follows.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        self.journal == VERSION && FAMILIES.iter().any(|family| family.to_string() == self.family)
    }
}

/// Any other line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Record {
    /// A node starts, with nothing behind it.
    Start {
        /// Time on the node's own axis.
        at: Time,
        /// Time of day, in milliseconds since 1970.
        wall_ms: u64,
        /// Configuration of the node.
        config: Configuration,
    },
    /// The previous file was full, and this one continues it.
    Continue {
        /// Time on the node's own axis.
        at: Time,
        /// Time of day, in milliseconds since 1970.
        wall_ms: u64,
        /// Number of steps in the earlier files since the node's start.
        steps: u64,
    },
    /// Steps are missing here.
    Gap {
        /// Time on the node's own axis.
        at: Time,
        /// Time of day, in milliseconds since 1970.
        wall_ms: u64,
        /// Number of steps that are missing since the node's start.
        missing: u64,
    },
    /// A step of the node.
    Step {
        /// Time on the node's own axis.
        at: Time,
        /// The event that the node was given.
        event: Event,
        /// The actions that it ordered.
        actions: Vec<Action>,
    },
}

/// A [`Record::Step`] as it is written.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StepLine<'a> {
    Step { at: Time, event: &'a Event, actions: &'a [Action] },
}

/// A node's configuration, as journals keep it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields are those of `Config`, which explains them")]
#[non_exhaustive]
pub struct Configuration {
    pub id: String,
    pub election: Timing,
    pub clock_error_ppm: u32,
    pub gate_close: Duration,
    pub drain: Duration,
    pub stop_grace: Duration,
    pub start_limit: Duration,
    pub shutdown_limit: Duration,
    pub relist: Duration,
    pub on_suspend: OnSuspend,
    #[serde(default)]
    pub observes: bool,
    #[serde(default = "yes")]
    pub registers: bool,
    #[serde(default)]
    pub follows_workers: bool,
    #[serde(default)]
    pub settings: Option<String>,
    /// False in a journal that does not say: its node knew of no wishes.
    #[serde(default)]
    pub heeds_wishes: bool,
}

impl From<&Config> for Configuration {
    fn from(config: &Config) -> Self {
        // A field more in the core is a field more here, or replays go wrong. A test compares them.
        Self {
            id: config.id.as_ref().to_owned(),
            election: config.election,
            clock_error_ppm: config.clock_error_ppm,
            gate_close: config.gate_close,
            drain: config.drain,
            stop_grace: config.stop_grace,
            start_limit: config.start_limit,
            shutdown_limit: config.shutdown_limit,
            relist: config.relist,
            on_suspend: config.on_suspend,
            observes: config.observes,
            registers: config.registers,
            follows_workers: config.follows_workers,
            settings: config.settings.as_deref().map(str::to_owned),
            heeds_wishes: config.heeds_wishes,
        }
    }
}

/// Default of a journal that does not say whether its node registers.
const fn yes() -> bool {
    true
}

impl From<Configuration> for Config {
    fn from(recorded: Configuration) -> Self {
        let mut config = Self::new(recorded.id);
        config.election = recorded.election;
        config.clock_error_ppm = recorded.clock_error_ppm;
        config.gate_close = recorded.gate_close;
        config.drain = recorded.drain;
        config.stop_grace = recorded.stop_grace;
        config.start_limit = recorded.start_limit;
        config.shutdown_limit = recorded.shutdown_limit;
        config.relist = recorded.relist;
        config.on_suspend = recorded.on_suspend;
        config.observes = recorded.observes;
        config.registers = recorded.registers;
        config.follows_workers = recorded.follows_workers;
        config.settings = recorded.settings.map(Into::into);
        config.heeds_wishes = recorded.heeds_wishes;
        config
    }
}
