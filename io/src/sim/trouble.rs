//! An application that fails to start, or takes long to stop.

use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Request, Response};
use rolecall_core::Role;

use crate::service::{ErasedHandler, ErasedService, ServeError};
use crate::{BoxFuture, Clock, Term};

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
pub(super) struct Troubled {
    pub(super) service: Arc<dyn ErasedService>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) trouble: Trouble,
}

impl ErasedService for Troubled {
    fn serve(&self, role: Role, term: Term) -> BoxFuture<'_, Result<Arc<dyn ErasedHandler>, ServeError>> {
        Box::pin(async move {
            {
                let mut ills = self.trouble.lock();
                if ills.failing_starts > 0 {
                    ills.failing_starts -= 1;
                    return Err("it was told to fail".into());
                }
            }
            let handler = self.service.serve(role, term).await?;
            let troubled = Handling { handler, clock: Arc::clone(&self.clock), trouble: self.trouble.clone() };
            Ok(Arc::new(troubled) as Arc<dyn ErasedHandler>)
        })
    }
}

struct Handling {
    handler: Arc<dyn ErasedHandler>,
    clock: Arc<dyn Clock>,
    trouble: Trouble,
}

impl ErasedHandler for Handling {
    fn handle<'a>(&'a self, request: Request<Bytes>) -> BoxFuture<'a, Response<Bytes>> {
        self.handler.handle(request)
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let takes = self.trouble.lock().stop_takes;
            if !takes.is_zero() {
                self.clock.sleep_until(self.clock.now() + takes).await;
            }
            self.handler.stop().await;
        })
    }
}
