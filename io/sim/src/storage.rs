//! The machine of something of the application's own that all nodes share.

use std::sync::Arc;

use rolecall_core::Time;

use super::clock::{SimClock, TrueTime};
use super::freezer::Freezer;
use super::net::SimNet;
use rolecall::{Clock, Net};

/// Its name.
pub(super) const HOST: &str = "storage";
/// The port that it listens on.
pub(super) const PORT: u16 = 7070;

/// The place of a [`Simulation::storage`](super::Simulation::storage). It is never paused and its clock is right.
#[derive(Debug)]
pub struct StorageHost {
    net: Arc<dyn Net>,
    clock: Arc<dyn Clock>,
}

impl StorageHost {
    pub(super) fn new(truth: TrueTime) -> Self {
        let clock = SimClock::new(truth.clone(), Freezer::default(), Time::ZERO);
        Self { net: Arc::new(SimNet::steady(truth)), clock: Arc::new(clock) }
    }

    /// Its sockets.
    #[must_use]
    pub fn net(&self) -> Arc<dyn Net> {
        Arc::clone(&self.net)
    }

    /// Its clock.
    #[must_use]
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Where it has to listen; nodes reach it at [`Host::storage`](super::Host::storage).
    #[must_use]
    pub fn listen(&self) -> String {
        format!("0.0.0.0:{PORT}")
    }
}
