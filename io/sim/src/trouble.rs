//! An application that fails to start, or takes long to stop.

use core::error::Error;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall::{Assignment, Clock, Drain, Running, Service};

/// What is wrong with the application of one host. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Trouble(Arc<Mutex<Ills>>);

#[derive(Clone, Copy, Debug, Default)]
struct Ills {
    failing_starts: u8,
    stop_takes: Duration,
}

impl Trouble {
    /// So many starts fail from now on.
    pub(super) fn fail_starts(&self, times: u8) {
        self.lock().failing_starts = times;
    }

    /// Each stop takes so long from now on.
    pub(super) fn slow_stops(&self, takes: Duration) {
        self.lock().stop_takes = takes;
    }

    fn lock(&self) -> MutexGuard<'_, Ills> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The application, with its troubles.
#[derive(Debug)]
pub(super) struct Troubled<S> {
    pub(super) service: S,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) trouble: Trouble,
}

impl<S: Service> Service for Troubled<S> {
    type Running = TroubledRun<S::Running>;

    async fn start(&self, assignment: Assignment) -> Result<Self::Running, Box<dyn Error + Send + Sync>> {
        {
            let mut ills = self.trouble.lock();
            if ills.failing_starts > 0 {
                ills.failing_starts -= 1;
                return Err("it was told to fail".into());
            }
        }
        let running = self.service.start(assignment).await?;
        Ok(TroubledRun { running, clock: Arc::clone(&self.clock), trouble: self.trouble.clone() })
    }
}

/// One run of the application, with its troubles.
#[derive(Debug)]
pub(super) struct TroubledRun<R> {
    running: R,
    clock: Arc<dyn Clock>,
    trouble: Trouble,
}

impl<R: Running> Running for TroubledRun<R> {
    async fn stop(self, drain: Drain) {
        let Self { running, clock, trouble } = self;
        running.stop(drain).await;
        let takes = trouble.lock().stop_takes;
        if !takes.is_zero() {
            clock.sleep_until(clock.now() + takes).await;
        }
    }
}
