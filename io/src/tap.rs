//! The seam for judges: every step of a node's machine, as it happens.

use core::fmt;

use rolecall_core::{Action, Event, Node, Time};

/// Is shown each step of one node, in the node's own task. Without one a node pays nothing for it.
pub trait Tap: fmt::Debug + Send + 'static {
    /// The node was as `before`; `event` came at `now` on its own clock; `actions` were ordered, and the gate has obeyed them;
    /// the node is as `after`.
    fn step(&mut self, before: &Node, now: Time, event: &Event, actions: &[Action], after: &Node);
}
