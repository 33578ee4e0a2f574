//! The machine of a storage that all nodes of the application share.

use std::sync::Arc;

use rolecall_core::Time;

use super::clock::{SimClock, TrueTime};
use super::freezer::Freezer;
use super::net::SimNet;
use rolecall::{Clock, Net};

/// Host name.
pub(super) const HOST: &str = "storage";
/// Port.
pub(super) const PORT: u16 = 7070;

/// The host of a [`Simulation::storage`](super::Simulation::storage). It is never paused and its clock is exact.
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

    /// The sockets of this host.
    #[must_use]
    pub fn net(&self) -> Arc<dyn Net> {
        Arc::clone(&self.net)
    }

    /// The clock of this host.
    #[must_use]
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Address to listen on; nodes reach it at [`Host::storage`](super::Host::storage).
    #[must_use]
    pub fn listen(&self) -> String {
        format!("0.0.0.0:{PORT}")
    }
}
