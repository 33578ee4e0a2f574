//! One term as an [`Election`](super::Election) has it: who holds it, and what goes on under it.

use std::sync::Arc;

use rolecall_core::Fence;
use tokio::sync::watch;

use crate::{Drain, LeaderTerm, TermOver};

/// One term, from the moment at which this member leads to the moment at which nothing goes on under it any more.
#[derive(Debug)]
pub(super) struct Tenure {
    term: LeaderTerm,
    state: watch::Sender<State>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// True once somebody who waited for it has it.
    taken: bool,
    /// True once nothing may go on under it.
    over: bool,
    /// Futures and functions that run under it.
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

    /// Takes it, if nobody has and it still holds.
    pub(super) fn take(&self) -> bool {
        self.state.send_if_modified(|state| {
            let is_free = !state.taken && !state.over && self.term.check().is_ok();
            state.taken |= is_free;
            is_free
        })
    }

    /// Checks that it holds and was not given back.
    pub(super) fn check(&self) -> Result<Fence, TermOver> {
        if self.state.borrow().over {
            return Err(TermOver { fence: self.fence() });
        }
        self.term.check()
    }

    /// Counts something that runs under it, unless it is over.
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

    /// Lets nothing go on under it.
    pub(super) fn end(&self) {
        self.state.send_if_modified(|state| !core::mem::replace(&mut state.over, true));
    }

    /// Ends once nothing may go on under it: it was given back, or stopped, or its time is over.
    pub(super) async fn ended(&self) {
        let mut states = self.state.subscribe();
        tokio::select! {
            biased;
            // An error is impossible: this has the sender.
            _ = states.wait_for(|state| state.over) => {}
            () = self.term.ended() => {}
        }
    }

    /// Lets what runs under it end until the `drain` is over, then ends it, and waits until nothing runs.
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

/// Something that runs under a term; it has ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Work(Arc<Tenure>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.state.send_modify(|state| state.works -= 1);
    }
}
