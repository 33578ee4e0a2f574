//! Floor: the newest term that this node has read about. Requests of older terms are refused (promise P14).

use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use rolecall_core::{Event, Fence, Time};
use thiserror::Error;
use tokio::sync::{mpsc, watch};

use crate::Clock;
use crate::mutant::Mutant;

/// Longest time for which a request with a newer fence waits while the node looks in the store.
const LOOK_LIMIT: Duration = Duration::from_secs(2);
/// Time within which the same fence is not shown to the core again, however many requests carry it.
const SHOW_AGAIN: Duration = Duration::from_millis(200);

/// Floor of one node, as its services see it. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Floor {
    clock: Arc<dyn Clock>,
    current: watch::Sender<Option<Fence>>,
    events: mpsc::Sender<Event>,
    shown: Arc<Mutex<Option<(Fence, Time)>>>,
}

impl Floor {
    pub(crate) fn new(clock: Arc<dyn Clock>, events: mpsc::Sender<Event>) -> Self {
        Self { clock, current: watch::Sender::new(None), events, shown: Arc::default() }
    }

    pub(crate) fn current(&self) -> Option<Fence> {
        *self.current.borrow()
    }

    pub(crate) fn publish(&self, fence: Fence) {
        self.current.send_replace(Some(fence));
    }

    pub(crate) async fn admit(&self, shown: Fence) -> Result<(), Stale> {
        let mut floors = self.current.subscribe();
        let floor = *floors.borrow_and_update();
        if let Some(verdict) = verdict(shown, floor) {
            return verdict;
        }
        self.show(shown);
        let limit = self.clock.sleep_until(self.clock.now() + LOOK_LIMIT);
        tokio::pin!(limit);
        loop {
            tokio::select! {
                biased;
                changed = floors.changed() => {
                    let floor = *floors.borrow_and_update();
                    match verdict(shown, floor) {
                        Some(verdict) => return verdict,
                        None if changed.is_err() => return Err(Stale::Unconfirmed { shown, floor }),
                        None => {}
                    }
                }
                () = &mut limit => return Err(Stale::Unconfirmed { shown, floor: *floors.borrow() }),
            }
        }
    }

    fn show(&self, fence: Fence) {
        let now = self.clock.now();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.is_some_and(|(last, at)| last == fence && now.since(at) < SHOW_AGAIN) {
            return;
        }
        // If the channel is full, the driver is behind. The sender of the request will ask again.
        if self.events.try_send(Event::FenceSeen { fence }).is_ok() {
            *shown = Some((fence, now));
        }
    }
}

/// Compares a fence with the floor. `None` if only the store can decide.
pub(crate) fn verdict(shown: Fence, floor: Option<Fence>) -> Option<Result<(), Stale>> {
    let floor = floor?;
    if shown.incarnation != floor.incarnation {
        Some(Err(Stale::OtherIncarnation { shown, floor }))
    } else if shown.epoch < floor.epoch && !Mutant::EpochNotChecked.lives() {
        Some(Err(Stale::Older { shown, floor }))
    } else if shown.epoch <= floor.epoch {
        Some(Ok(()))
    } else {
        None
    }
}

/// Refusal of a request because of its fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Stale {
    /// The fence belongs to an older term.
    #[error("epoch {} is over: this node knows of epoch {}", shown.epoch.0, floor.epoch.0)]
    Older {
        /// Fence of the request.
        shown: Fence,
        /// Floor of this node.
        floor: Fence,
    },
    /// The fence belongs to another incarnation of the store.
    #[error("the fence belongs to incarnation {:016x} of the store: this node knows of {:016x}", shown.incarnation.0, floor.incarnation.0)]
    OtherIncarnation {
        /// Fence of the request.
        shown: Fence,
        /// Floor of this node.
        floor: Fence,
    },
    /// The fence is newer than all that this node has read about, and the store did not confirm it in time.
    #[error(
        "epoch {} is not confirmed by the store: this node knows of {}",
        shown.epoch.0,
        floor.map_or_else(|| "none".into(), |floor| format!("epoch {}", floor.epoch.0))
    )]
    Unconfirmed {
        /// Fence of the request.
        shown: Fence,
        /// Floor of this node, if it has one.
        floor: Option<Fence>,
    },
}
