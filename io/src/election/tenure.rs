//! Term of an [`Election`](super::Election), with its holder and the work under it.

use std::sync::Arc;

use rolecall_core::Fence;
use tokio::sync::watch;

use crate::{Drain, LeaderTerm, TermOver};

/// Term, from the moment at which this member leads until no work is left under it.
#[derive(Debug)]
pub(super) struct Tenure {
    term: LeaderTerm,
    state: watch::Sender<State>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// True once a caller has taken the term.
    taken: bool,
    /// True once no work may go on under the term.
    over: bool,
    /// Number of futures and functions that run under the term.
    works: usize,
}

impl Tenure {
    pub(super) fn new(term: LeaderTerm) -> Self {
        Self { term, state: watch::Sender::default() }
    }

    pub(super) fn term(&self) -> &LeaderTerm {
        &self.term
    }

    pub(super) fn fence(&self) -> Fence {
        self.term.fence()
    }

    /// Takes the term, if nobody has and it is still valid. True if it was taken.
    pub(super) fn take(&self) -> bool {
        self.state.send_if_modified(|state| {
            let is_free = !state.taken && !state.over && self.term.check().is_ok();
            state.taken |= is_free;
            is_free
        })
    }

    /// Checks that the term is valid and was not given back.
    pub(super) fn check(&self) -> Result<Fence, TermOver> {
        if self.state.borrow().over {
            return Err(TermOver { fence: self.fence() });
        }
        self.term.check()
    }

    /// Begins a piece of work under the term, unless the term is over.
    pub(super) fn begin(self: &Arc<Self>) -> Option<Work> {
        self.check().ok()?;
        let begun = self.state.send_if_modified(|state| {
            if !state.over {
                state.works += 1;
            }
            !state.over
        });
        begun.then(|| Work(Arc::clone(self)))
    }

    /// Ends the term: no work may go on under it.
    pub(super) fn end(&self) {
        self.state.send_if_modified(|state| !core::mem::replace(&mut state.over, true));
    }

    /// Waits until no work may go on under the term: it was given back or stopped, or its time is over.
    pub(super) async fn ended(&self) {
        let mut states = self.state.subscribe();
        tokio::select! {
            biased;
            // This never fails, because `self` keeps the sender.
            _ = states.wait_for(|state| state.over) => {}
            () = self.term.ended() => {}
        }
    }

    /// Waits for the work under the term until the `drain` is over, ends the term, and waits until no work is left.
    pub(super) async fn stop(&self, drain: &Drain) {
        let mut states = self.state.subscribe();
        tokio::select! {
            biased;
            _ = states.wait_for(|state| state.over || !state.taken) => {}
            () = self.term.ended() => {}
            () = drain.over() => {}
        }
        self.end();
        drop(states.wait_for(|state| state.works == 0).await);
    }
}

/// Piece of work under a term. Dropping it says that the work has ended.
#[derive(Debug)]
pub(crate) struct Work(Arc<Tenure>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.state.send_modify(|state| state.works -= 1);
    }
}
