//! Elections of every kind under the same faults: Rolecall's own, and those from the [textbook](crate::election::textbook).
//!
//! Time is virtual and everything follows from a seed: the faults and their times are the same for each election, messages
//! take a millisecond, and nothing runs but pure machines. A run counts what a user would notice: for how long nobody led,
//! and for how long two nodes believed at the same true instant that they may act as leader. A process that is paused or
//! down acts as nobody. For Rolecall's nodes, the belief is their gate.
//!
//! ```
//! use rolecall_core::testing::comparison::{Election, FaultKind, Setting};
//!
//! let setting = Setting { faults: vec![FaultKind::Pause], ..Setting::default() };
//! let recipe = Election::NaiveLease.run(&setting, 7);
//! let queue = Election::Queue.run(&setting, 7);
//! assert_eq!(queue.two_leaders.as_nanos(), 0);
//! assert!(recipe.two_leaders > queue.two_leaders);
//! ```
//!
//! All elections count a silence of ten seconds as a failure: it is the session timeout, the election timeout, and the
//! patience of bully and ring. The naive lease has the times of its recipe.

mod clock;
mod count;
mod election;
mod fault;
mod history;
mod network;
mod ours;
mod process;
mod run;
mod world;

pub use election::Election;
pub use fault::{Fault, FaultKind, Victim, plan};
pub use history::{Moment, MomentKind, State};
pub use run::Run;

use alloc::vec::Vec;
use core::time::Duration;

/// Settings that the runs of a comparison share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Number of nodes, from 1 to 20. Default: 5.
    pub nodes: u8,
    /// Kinds of faults that happen. Default: all.
    pub faults: Vec<FaultKind>,
    /// Time in which faults happen. Default: 10 min.
    pub length: Duration,
    /// Time without faults at the end. Default: 2 min.
    pub rest: Duration,
    /// True if the run keeps its history. Default: false.
    pub has_history: bool,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            nodes: 5,
            faults: FaultKind::ALL.to_vec(),
            length: Duration::from_secs(600),
            rest: Duration::from_secs(120),
            has_history: false,
        }
    }
}
