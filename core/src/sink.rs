//! Where a machine puts its actions: the caller's buffer.

use alloc::vec::Vec;

use crate::Action;

/// Takes actions in order. Nothing that waits to be drained is kept in the state of a machine.
pub trait Sink {
    /// Adds one action.
    fn push(&mut self, action: Action);
}

impl Sink for Vec<Action> {
    fn push(&mut self, action: Action) {
        Self::push(self, action);
    }
}
