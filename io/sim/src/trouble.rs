//! An application that fails to start, or takes long to stop.

use core::error::Error;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Request, Response};
use rolecall_core::Role;

use rolecall::{Clock, Handler, RoleService, Term};

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

impl<S: RoleService> RoleService for Troubled<S> {
    type Handler = Handling<S::Handler>;

    async fn serve(&self, role: Role, term: Term) -> Result<Self::Handler, Box<dyn Error + Send + Sync>> {
        {
            let mut ills = self.trouble.lock();
            if ills.failing_starts > 0 {
                ills.failing_starts -= 1;
                return Err("it was told to fail".into());
            }
        }
        let handler = self.service.serve(role, term).await?;
        Ok(Handling { handler, clock: Arc::clone(&self.clock), trouble: self.trouble.clone() })
    }
}

/// One run of the application, with its troubles.
#[derive(Debug)]
pub(super) struct Handling<H> {
    handler: H,
    clock: Arc<dyn Clock>,
    trouble: Trouble,
}

impl<H: Handler> Handler for Handling<H> {
    async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        self.handler.handle(request).await
    }

    async fn stop(&self) {
        let takes = self.trouble.lock().stop_takes;
        if !takes.is_zero() {
            self.clock.sleep_until(self.clock.now() + takes).await;
        }
        self.handler.stop().await;
    }
}
