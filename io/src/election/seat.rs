//! The place of an [`Election`](super::Election) in its node: stands while somebody waits to lead, and hands the term over.

use core::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall_core::{Event, Fence};
use tokio::sync::watch;

use super::tenure::Tenure;
use crate::driver::Orders;
use crate::{Assignment, Drain, Running, Service};

/// What the callers of an election and its node share.
#[derive(Debug)]
pub(super) struct Seat {
    orders: Orders,
    offer: watch::Sender<Option<Arc<Tenure>>>,
    wish: Mutex<Wish>,
}

/// Reasons to stand.
#[derive(Debug, Default)]
struct Wish {
    /// Callers that wait to lead.
    waiting: usize,
    /// The term that a caller has.
    held: Option<Fence>,
}

impl Seat {
    /// A seat whose node stands for nothing yet.
    pub(super) fn new(orders: Orders) -> Self {
        orders.give(Event::Stand { willing: false });
        Self { orders, offer: watch::Sender::new(None), wish: Mutex::default() }
    }

    /// Stands for as long as the guard lives, or until a term is taken.
    pub(super) fn wait(self: &Arc<Self>) -> Waiting {
        let mut wish = self.wish();
        wish.waiting += 1;
        if wish.waiting == 1 && wish.held.is_none() {
            self.orders.give(Event::Stand { willing: true });
        }
        Waiting(Arc::clone(self))
    }

    /// The terms as they come.
    pub(super) fn offers(&self) -> watch::Receiver<Option<Arc<Tenure>>> {
        self.offer.subscribe()
    }

    /// A caller takes `tenure`, if it is still to be had.
    pub(super) fn take(&self, tenure: &Tenure) -> bool {
        let mut wish = self.wish();
        let taken = tenure.take();
        if taken {
            wish.held = Some(tenure.fence());
        }
        taken
    }

    /// The term of `fence` is over or given back. Whoever waits stands again, behind those who wait now.
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

    /// Gives the term up that a caller has, in good order.
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
        // No code that holds the lock leaves the wish half changed.
        self.wish.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody waits to lead.
#[derive(Debug)]
pub(super) struct Waiting(Arc<Seat>);

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut wish = self.0.wish();
        wish.waiting -= 1;
        if wish.waiting == 0 && wish.held.is_none() {
            self.0.orders.give(Event::Stand { willing: false });
        }
    }
}

/// [`Seat`] as the application of a node.
#[derive(Debug)]
pub(super) struct SeatService(pub(super) Arc<Seat>);

impl Service for SeatService {
    type Running = Occupied;

    async fn start(&self, assignment: Assignment) -> Result<Occupied, Box<dyn Error + Send + Sync>> {
        let seat = Arc::clone(&self.0);
        Ok(match assignment {
            Assignment::Lead(term) => {
                let tenure = Arc::new(Tenure::new(term));
                seat.offer.send_replace(Some(Arc::clone(&tenure)));
                Occupied::Leading(Reign { seat, tenure })
            }
            Assignment::Follow(_) => Occupied::Following,
        })
    }
}

/// One run of a member.
#[derive(Debug)]
pub(super) enum Occupied {
    Leading(Reign),
    Following,
}

/// A term, from the side of the node. Nothing goes on under it once this is gone.
#[derive(Debug)]
pub(super) struct Reign {
    seat: Arc<Seat>,
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
        self.seat.offer.send_replace(None);
        self.seat.give_back(self.tenure.fence());
    }
}
