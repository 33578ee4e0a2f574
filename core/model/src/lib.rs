//! Explores every reachable state of small clusters.
//!
//! The checker takes every possible step from every state it reaches. The nodes and the store are the very types that run
//! in production, and messages between them arrive in every possible order. A limited number of [`Faults`] may happen at
//! any moment. Every promise must hold in every state, and a run without further faults must bring the cluster to rest.
//!
//! There are two kinds of worlds. The untimed one has no common clock: a node's clock jumps to its next deadline when
//! nothing is under way to the node, or earlier at the price of a fault. A leader's session never ends there, nor its
//! lease, since only time can guarantee that. The untimed world tries every order of events. In the timed one
//! ([`Options::timed`]) all nodes share one true time; it shows that deadlines keep two nodes from leading at once.

mod canonical;
mod explore;
mod fair;
mod faults;
mod judge;
mod layers;
pub mod memory;
mod report;
mod seen;
mod timed;
mod waiting;
mod world;

use std::time::Duration;

use rolecall_core::Family;

pub use explore::run;
pub use faults::{Fault, Faults, UnknownFault};
pub use report::{Ending, Progress, Report, Violated};
pub use timed::{Rate, UnknownRate};

/// The world to explore, and the limits of the exploration.
#[derive(Clone, Debug)]
pub struct Options {
    /// Family of the election. Default: a queue.
    pub family: Family,
    /// Number of nodes.
    pub nodes: u8,
    /// Faults that may happen, and how many of each.
    pub faults: Faults,
    /// True for a lean world, which has far fewer states: requests reach the store at once, so only answers linger;
    /// messages that nobody waits for arrive at once; and time passes by itself only when nothing is under way to any
    /// node.
    pub lean: bool,
    /// Number of nodes that only look on, counted from the last.
    pub observers: u8,
    /// Number of nodes that are at rest, one of them as the leader, when the exploration begins. The others start at
    /// any moment.
    pub settled: u8,
    /// True for a timed world: one true time for all, and clocks that are off by as much as the configuration allows.
    pub timed: bool,
    /// Rate of each node's clock. Default: empty, which tries every combination; a lean world leaves out the exact
    /// rate.
    pub clocks: Vec<Rate>,
    /// Number of nodes, and of servers, that faults may strike, counted from the first. Applies to timed worlds only.
    pub struck: u8,
    /// Longest run to explore, in states. Default: no limit.
    pub depth: Option<usize>,
    /// Time after which the exploration stops, even with states left. Default: no limit.
    pub time: Option<Duration>,
    /// Memory of the process, in bytes, at which the exploration stops, even with states left. Default: no limit.
    pub memory: Option<u64>,
    /// Number of exploring threads.
    pub threads: usize,
}

impl Options {
    /// Options for this many nodes, without faults or limits, on one thread.
    #[must_use]
    pub const fn new(nodes: u8) -> Self {
        Self {
            family: Family::Queue,
            nodes,
            faults: Faults::none(),
            lean: false,
            observers: 0,
            settled: 0,
            timed: false,
            clocks: Vec::new(),
            struck: nodes,
            depth: None,
            time: None,
            memory: None,
            threads: 1,
        }
    }

    /// Allows one more fault of this kind.
    #[must_use]
    pub const fn with(mut self, fault: Fault) -> Self {
        self.faults = self.faults.with(fault);
        self
    }
}
