//! The floor: the newest term that this node has read of, below which requests are refused (promise P14).

use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use rolecall_core::{Event, Fence, Time};
use thiserror::Error;
use tokio::sync::{mpsc, watch};

use crate::Clock;
use crate::mutant::Mutant;

/// How long a request with a newer token is held back while the node looks in the store.
const LOOK_LIMIT: Duration = Duration::from_secs(2);
/// The same token is not shown to the core again within this time, however many requests carry it.
const SHOW_AGAIN: Duration = Duration::from_millis(200);

/// The floor of one node, as its services see it. Clones share it.
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
        // With a full channel the driver is behind; the sender of the request asks again.
        if self.events.try_send(Event::FenceSeen { fence }).is_ok() {
            *shown = Some((fence, now));
        }
    }
}

/// `None` where only the store can tell.
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

/// A request was refused for the token that it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Stale {
    /// It is of an older term.
    #[error("epoch {} is over: this node knows of epoch {}", shown.epoch.0, floor.epoch.0)]
    Older {
        /// What was shown.
        shown: Fence,
        /// What this node knows of.
        floor: Fence,
    },
    /// It is of another life of the store.
    #[error("the token is of incarnation {:016x} of the store: this node knows of {:016x}", shown.incarnation.0, floor.incarnation.0)]
    OtherIncarnation {
        /// What was shown.
        shown: Fence,
        /// What this node knows of.
        floor: Fence,
    },
    /// It is newer than what this node has read of, and the store did not confirm it in time.
    #[error(
        "epoch {} is not confirmed by the store: this node knows of {}",
        shown.epoch.0,
        floor.map_or_else(|| "none".into(), |floor| format!("epoch {}", floor.epoch.0))
    )]
    Unconfirmed {
        /// What was shown.
        shown: Fence,
        /// What this node knows of, if anything.
        floor: Option<Fence>,
    },
}
