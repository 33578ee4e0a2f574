//! Tap: the seam for judges, which see every step of a node's machine as it happens.

use core::fmt;

use rolecall_core::{Action, Event, Node, Time};

/// Observer of each step of one node, called in the node's own task. A node without a tap pays nothing.
pub trait Tap: fmt::Debug + Send + 'static {
    /// Called after each step. `before` is the node's state before it, `event` arrived at `now` on the node's own clock,
    /// `actions` are what the machine ordered (the gate has already obeyed), and `after` is the new state.
    fn step(&mut self, before: &Node, now: Time, event: &Event, actions: &[Action], after: &Node);
}
