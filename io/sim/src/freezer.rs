//! Freezing of a host, as SIGSTOP does.
//!
//! Everything that wakes a node's tasks comes through its seams: sockets, the clock, the store. While a host is frozen
//! all of these are pending. So none of its tasks runs, while its clock and the world go on.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::{Context, Poll, Waker, ready};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall::Entropy;

/// Freezes and thaws one host. Clones control the same host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Freezer(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    is_frozen: bool,
    waiting: Vec<Waker>,
}

impl Freezer {
    pub(super) fn freeze(&self) {
        self.lock().is_frozen = true;
    }

    /// Wakes everything that waited, in random order: after a stop, a ready connection may be served before any timer.
    pub(super) fn thaw(&self, entropy: &mut dyn Entropy) {
        let mut waiting = {
            let mut state = self.lock();
            state.is_frozen = false;
            core::mem::take(&mut state.waiting)
        };
        while !waiting.is_empty() {
            let count = u64::try_from(waiting.len()).unwrap_or(u64::MAX);
            let place = usize::try_from(entropy.bits() % count).unwrap_or(0);
            waiting.swap_remove(place).wake();
        }
    }

    pub(super) fn is_frozen(&self) -> bool {
        self.lock().is_frozen
    }

    /// Pending while the host is frozen.
    pub(super) fn poll_thawed(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if !state.is_frozen {
            return Poll::Ready(());
        }
        if !state.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            state.waiting.push(context.waker().clone());
        }
        Poll::Pending
    }

    pub(super) async fn thawed(&self) {
        poll_fn(|context| self.poll_thawed(context)).await;
    }

    /// Runs `future`, but not while the host is frozen.
    pub(super) async fn run<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        poll_fn(|context| {
            ready!(self.poll_thawed(context));
            future.as_mut().poll(context)
        })
        .await
    }

    /// Resets the state for a new life of the host: not frozen, and nothing waits.
    pub(super) fn reset(&self) {
        *self.lock() = State::default();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
