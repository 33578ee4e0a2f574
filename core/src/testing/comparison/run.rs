//! The result of a run.

use alloc::vec::Vec;
use core::time::Duration;

use super::Moment;
use crate::Time;
use crate::election::textbook::{Broken, Peer};

/// Counts of one run, and its history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Length of the run.
    pub simulated: Duration,
    /// Each time for which nobody led until a node was elected, after the first leader. One that lasts at the end counts
    /// too.
    pub heals: Vec<Duration>,
    /// The sum of all times for which nobody led, after the first leader.
    pub leaderless: Duration,
    /// Time for which two or more nodes led at the same instant.
    pub two_leaders: Duration,
    /// First instant at which two led.
    pub two_leaders_at: Option<Time>,
    /// Times that a node began to lead.
    pub elections: u64,
    /// Messages for elections, or operations of the store for them.
    pub messages: u64,
    /// Messages, or operations of the store, that are sent again and again while nothing happens.
    pub upkeep: u64,
    /// Number of faults that happened.
    pub faults: u64,
    /// First broken invariant, with its node.
    pub broken: Option<(Time, Peer, Broken)>,
    /// Everything that happened, if it was kept.
    pub history: Vec<Moment>,
}
