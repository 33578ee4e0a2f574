//! Faults of a service: it fails to start, or takes long to stop.

use core::error::Error;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall::{Assignment, Clock, Drain, Running, Service};

/// Faults of the service on one host. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct ServiceFaults(Arc<Mutex<Faults>>);

#[derive(Clone, Copy, Debug, Default)]
struct Faults {
    failing_starts: u8,
    stop_takes: Duration,
}

impl ServiceFaults {
    /// From now on this many starts fail.
    pub(super) fn fail_starts(&self, times: u8) {
        self.lock().failing_starts = times;
    }

    /// From now on each stop takes this long.
    pub(super) fn slow_stops(&self, takes: Duration) {
        self.lock().stop_takes = takes;
    }

    fn lock(&self) -> MutexGuard<'_, Faults> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A service with faults.
#[derive(Debug)]
pub(super) struct FaultyService<S> {
    pub(super) service: S,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) service_faults: ServiceFaults,
}

impl<S: Service> Service for FaultyService<S> {
    type Running = FaultyRun<S::Running>;

    async fn start(&self, assignment: Assignment) -> Result<Self::Running, Box<dyn Error + Send + Sync>> {
        {
            let mut faults = self.service_faults.lock();
            if faults.failing_starts > 0 {
                faults.failing_starts -= 1;
                return Err("it was told to fail".into());
            }
        }
        let running = self.service.start(assignment).await?;
        Ok(FaultyRun { running, clock: Arc::clone(&self.clock), service_faults: self.service_faults.clone() })
    }
}

/// One run of a service with faults.
#[derive(Debug)]
pub(super) struct FaultyRun<R> {
    running: R,
    clock: Arc<dyn Clock>,
    service_faults: ServiceFaults,
}

impl<R: Running> Running for FaultyRun<R> {
    async fn stop(self, drain: Drain) {
        let Self { running, clock, service_faults } = self;
        running.stop(drain).await;
        let takes = service_faults.lock().stop_takes;
        if !takes.is_zero() {
            clock.sleep_until(clock.now() + takes).await;
        }
    }
}
