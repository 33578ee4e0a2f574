//! States to be explored, in little memory.

use std::sync::Arc;

use super::explore::Explored;

/// States that a thread takes at a time.
pub(crate) const BLOCK: usize = 128;

/// A state to be explored: the state before it, which it shares with others, and the step that leads to it from there. The
/// exploration takes that step once more, since whole states would take ten times the memory.
pub(crate) struct Waiting<W: Explored> {
    pub(crate) before: Arc<W>,
    pub(crate) step: Option<W::Step>,
    pub(crate) print: u64,
}

impl<W: Explored> Waiting<W> {
    pub(crate) fn world(&self) -> W {
        self.step.map_or_else(|| (*self.before).clone(), |step| after(&*self.before, step))
    }
}

/// The step that first led to a state: the place of the state before it, and of the step among those that were possible.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) before: u32,
    pub(crate) choice: u32,
}

/// States of one layer that follow one another, and their origins.
pub(crate) struct Block<W: Explored> {
    /// The place of the first one among all states.
    pub(crate) first: u32,
    pub(crate) states: Vec<Waiting<W>>,
    pub(crate) origins: Vec<Origin>,
}

impl<W: Explored> Block<W> {
    pub(crate) fn new() -> Self {
        Self { first: 0, states: Vec::with_capacity(BLOCK), origins: Vec::with_capacity(BLOCK) }
    }
}

/// The state that follows, in its canonical form.
pub(crate) fn after<W: Explored>(before: &W, step: W::Step) -> W {
    let mut world = before.clone();
    world.take(step, &mut Vec::new());
    world.rename();
    world
}
