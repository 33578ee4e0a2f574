//! Candidacy of an [`Election`](super::Election): its node stands while a caller waits to lead, and a caller takes the term here.

use core::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall_core::{Event, Fence};
use tokio::sync::watch;

use super::tenure::Tenure;
use crate::driver::Orders;
use crate::{Assignment, Drain, Running, Service};

/// State that the callers of an election share with its node.
#[derive(Debug)]
pub(super) struct Candidacy {
    orders: Orders,
    offer: watch::Sender<Option<Arc<Tenure>>>,
    wish: Mutex<Wish>,
}

/// Reasons to be a candidate.
#[derive(Debug, Default)]
struct Wish {
    /// Number of callers that wait to lead.
    waiting: usize,
    /// Fence of the term that a caller holds.
    held: Option<Fence>,
}

impl Candidacy {
    /// Makes a candidacy whose node is not a candidate yet.
    pub(super) fn new(orders: Orders) -> Self {
        orders.give(Event::Stand { willing: false });
        Self { orders, offer: watch::Sender::new(None), wish: Mutex::default() }
    }

    /// Makes the node a candidate for as long as the guard lives, or until a term is taken.
    pub(super) fn wait(self: &Arc<Self>) -> Waiting {
        let mut wish = self.wish();
        wish.waiting += 1;
        if wish.waiting == 1 && wish.held.is_none() {
            self.orders.give(Event::Stand { willing: true });
        }
        Waiting(Arc::clone(self))
    }

    /// Terms, as they are offered.
    pub(super) fn offers(&self) -> watch::Receiver<Option<Arc<Tenure>>> {
        self.offer.subscribe()
    }

    /// Takes `tenure` for a caller, if it is still free.
    pub(super) fn take(&self, tenure: &Tenure) -> bool {
        let mut wish = self.wish();
        let taken = tenure.take();
        if taken {
            wish.held = Some(tenure.fence());
        }
        taken
    }

    /// Records that the term of `fence` is over or given back. If callers wait, the node becomes a candidate again, behind the
    /// present ones.
    pub(super) fn give_back(&self, fence: Fence) {
        let mut wish = self.wish();
        if wish.held != Some(fence) {
            return;
        }
        wish.held = None;
        self.orders.give(Event::Stand { willing: false });
        if wish.waiting > 0 {
            self.orders.give(Event::Stand { willing: true });
        }
    }

    /// Gives up the term that a caller holds, in good order.
    pub(super) fn resign(&self) {
        let held = self.wish().held;
        if let Some(fence) = held {
            self.give_back(fence);
        }
    }

    /// Ends the membership in good order.
    pub(super) fn leave(&self) {
        self.orders.give(Event::Shutdown);
    }

    fn wish(&self) -> MutexGuard<'_, Wish> {
        // No code that holds the lock panics halfway through a change, so a poisoned lock is safe to use.
        self.wish.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard of a caller that waits to lead.
#[derive(Debug)]
pub(super) struct Waiting(Arc<Candidacy>);

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut wish = self.0.wish();
        wish.waiting -= 1;
        if wish.waiting == 0 && wish.held.is_none() {
            self.0.orders.give(Event::Stand { willing: false });
        }
    }
}

/// [`Candidacy`] as the application of a node.
#[derive(Debug)]
pub(super) struct CandidacyService(pub(super) Arc<Candidacy>);

impl Service for CandidacyService {
    type Running = Occupied;

    async fn start(&self, assignment: Assignment) -> Result<Occupied, Box<dyn Error + Send + Sync>> {
        let candidacy = Arc::clone(&self.0);
        Ok(match assignment {
            Assignment::Lead(term) => {
                let tenure = Arc::new(Tenure::new(term));
                candidacy.offer.send_replace(Some(Arc::clone(&tenure)));
                Occupied::Leading(Reign { candidacy, tenure })
            }
            Assignment::Follow(_) => Occupied::Following,
        })
    }
}

/// Run of a member in one role.
#[derive(Debug)]
pub(super) enum Occupied {
    Leading(Reign),
    Following,
}

/// Term, from the side of the node. Dropping it ends everything under the term.
#[derive(Debug)]
pub(super) struct Reign {
    candidacy: Arc<Candidacy>,
    tenure: Arc<Tenure>,
}

impl Running for Occupied {
    async fn stop(self, drain: Drain) {
        match self {
            Self::Leading(reign) => reign.tenure.stop(&drain).await,
            Self::Following => {}
        }
    }
}

impl Drop for Reign {
    fn drop(&mut self) {
        self.tenure.end();
        self.candidacy.offer.send_replace(None);
        self.candidacy.give_back(self.tenure.fence());
    }
}
