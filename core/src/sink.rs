//! The caller's buffer for actions.

use alloc::vec::Vec;

use crate::Action;

/// Takes actions in order. The state of a machine keeps no actions that wait to be drained.
pub trait Sink {
    /// Adds one action.
    fn push(&mut self, action: Action);
}

impl Sink for Vec<Action> {
    fn push(&mut self, action: Action) {
        Self::push(self, action);
    }
}
