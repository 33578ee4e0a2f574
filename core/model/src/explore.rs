//! The checker's view of a world, and the run of the checker.

use std::fmt::Debug;
use std::hash::Hash;

use super::Options;
use super::layers::Exploration;
use super::report::{Progress, Report};
use super::timed::Timed;
use super::world::{Happened, World};

/// A state whose successors are explored.
pub(crate) trait Explored: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// A transition to the next state. It means the same in states that differ in names only.
    type Step: Copy + Debug + Eq + Hash + Send + Sync;

    /// The states in which an exploration begins.
    fn beginnings(options: &Options) -> Vec<Self>;
    /// Lists every possible step, in a fixed order.
    fn steps(&self, steps: &mut Vec<Self::Step>);
    /// Takes a possible step and adds to `seen` what the nodes did.
    fn take(&mut self, step: Self::Step, seen: &mut Vec<Happened>);
    /// Gives everything its canonical name.
    fn rename(&mut self);
    /// The nodes, the store, and the breach if there was one.
    fn world(&self) -> &World;
    /// True where a run without faults ends.
    fn is_at_rest(&self) -> bool;
    /// The next step of the run without faults.
    fn fair_step(&self) -> Option<Self::Step>;
    /// A note for the trace, with the name of its subject: on a step before it is taken, or on the beginning (`None`).
    fn note(&self, step: Option<Self::Step>) -> Option<(String, String)>;
    /// An additional note for the trace on an event that a node handled.
    fn remark(&self, happened: &Happened, begun: &Self) -> Option<String>;
}

/// Explores every reachable state, until none is left, the time is up, the memory is full or a promise is broken. Calls
/// `progress` several times a second.
pub fn run(options: &Options, progress: impl FnMut(Progress)) -> Report {
    if options.timed {
        Exploration::<Timed>::new(options).run(progress)
    } else {
        Exploration::<World>::new(options).run(progress)
    }
}
