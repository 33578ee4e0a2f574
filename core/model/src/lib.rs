//! Every reachable state of small clusters.
//!
//! A model checker (stateright) takes every step that is possible, from every state it comes to: nodes and the store are the
//! very types that run in production, and what is under way between them arrives in any order that is possible. A number of
//! [`Faults`] may happen, at any moment. In every state the promises must hold, and a run without further faults must bring the
//! cluster to rest.
//!
//! There are two kinds of worlds. The first knows no time: a node's clock jumps to its next deadline when nothing is under way to
//! it, or earlier at the price of a fault; the session of a leader never ends, for that is what time is there to see to. It
//! tries out every order in which things can happen. In the second, [`Options::timed`], time is common to all: it shows that
//! deadlines keep two nodes from leading at once.

mod canonical;
mod explore;
mod fair;
mod faults;
mod judge;
mod report;
mod timed;
mod world;

use std::time::Duration;

pub use explore::run;
pub use faults::{Fault, Faults, UnknownFault};
pub use report::{Progress, Report, Violated};
pub use timed::{Rate, UnknownRate};

/// What is explored, and for how long.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many nodes there are.
    pub nodes: u8,
    /// What may go wrong, and how often.
    pub faults: Faults,
    /// Whether the world is lean, with far fewer states: what a node asks is with the store at once, so that only what is
    /// answered lingers; what nobody waits for arrives at once; and time passes by itself only when nothing is under way to
    /// anybody.
    pub lean: bool,
    /// How many nodes are at rest when the exploration begins, with one of them leading; the others start at any moment.
    pub settled: u8,
    /// Whether there is a time that is common to all, on clocks that are wrong by as much as is configured.
    pub timed: bool,
    /// How the clock of each node goes; where it is not said, every way is tried. In a lean world none is exact.
    pub clocks: Vec<Rate>,
    /// With how many of the nodes, and of the servers, something goes wrong: the first ones. Only where time is common to all.
    pub struck: u8,
    /// How many states a run has at most; there is no limit where it is not said.
    pub depth: Option<usize>,
    /// When to stop though there are states left.
    pub time: Option<Duration>,
    /// How many threads explore; with one the shortest way to what is wrong is found.
    pub threads: usize,
}

impl Options {
    /// So many nodes, nothing that goes wrong, all the time it takes, one thread.
    #[must_use]
    pub const fn new(nodes: u8) -> Self {
        Self {
            nodes,
            faults: Faults::none(),
            lean: false,
            settled: 0,
            timed: false,
            clocks: Vec::new(),
            struck: nodes,
            depth: None,
            time: None,
            threads: 1,
        }
    }

    /// One more fault of this kind.
    #[must_use]
    pub const fn with(mut self, fault: Fault) -> Self {
        self.faults = self.faults.with(fault);
        self
    }
}
