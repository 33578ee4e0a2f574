//! Slot for the handler of the present role.

use core::fmt;
use core::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::FutureExt;
use http::header::RETRY_AFTER;
use http::{HeaderValue, Request, Response, StatusCode};
use tokio::sync::watch;

use super::answer;
use super::application::ErasedHandler;
use crate::Drain;

/// Place for the handler to which the server passes requests. Empty while the node has no role. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct HandlerSlot(Arc<Mutex<Option<Arc<Occupant>>>>);

impl HandlerSlot {
    /// Passes requests to `handler` from now on. The slot must be empty.
    pub(crate) fn fill(&self, handler: Arc<dyn ErasedHandler>) -> Arc<Occupant> {
        let occupant = Arc::new(Occupant { handler, in_flight: watch::Sender::new(0), cut: watch::Sender::new(false) });
        let before = self.lock().replace(Arc::clone(&occupant));
        assert!(before.is_none(), "one run of a service ends before another starts");
        occupant
    }

    /// Empties the slot. Requests in flight go on in the occupant that is returned.
    pub(crate) fn clear(&self) -> Option<Arc<Occupant>> {
        self.lock().take()
    }

    /// Number of requests that the present handler is answering.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.lock().as_ref().map_or(0, |occupant| *occupant.in_flight.borrow())
    }

    /// Answers one request: with `503 no_role` if the slot is empty.
    pub(crate) async fn answer(&self, request: Request<Bytes>) -> Response<Bytes> {
        match self.visit() {
            Some(visit) => visit.answer(request).await,
            None => retry(answer::error(
                StatusCode::SERVICE_UNAVAILABLE,
                "no_role",
                "this node has no role in the cluster at the moment",
            )),
        }
    }

    fn visit(&self) -> Option<Visit> {
        let slot = self.lock();
        let occupant = Arc::clone(slot.as_ref()?);
        // Count under the lock, so that the count can only fall once the slot is empty.
        occupant.in_flight.send_modify(|count| *count += 1);
        Some(Visit(occupant))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Occupant>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Handler with its requests in flight.
pub(crate) struct Occupant {
    handler: Arc<dyn ErasedHandler>,
    in_flight: watch::Sender<usize>,
    cut: watch::Sender<bool>,
}

impl Occupant {
    /// Waits for the requests in flight until `drain` is over, cuts off the rest, and stops the handler.
    pub(crate) async fn stop(&self, drain: &Drain) {
        let mut in_flight = self.in_flight.subscribe();
        tokio::select! {
            biased;
            _ = in_flight.wait_for(|count| *count == 0) => {}
            () = drain.over() => {}
        }
        self.cut_off();
        drop(in_flight.wait_for(|count| *count == 0).await);
        if AssertUnwindSafe(self.handler.stop()).catch_unwind().await.is_err() {
            tracing::error!("the application panicked while it stopped");
        }
    }

    /// Cuts off the requests in flight: each is answered with an error instead of by the handler.
    pub(crate) fn cut_off(&self) {
        self.cut.send_replace(true);
    }
}

impl fmt::Debug for Occupant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Occupant").field("in_flight", &*self.in_flight.borrow()).finish_non_exhaustive()
    }
}

/// Request in flight.
struct Visit(Arc<Occupant>);

impl Visit {
    async fn answer(self, request: Request<Bytes>) -> Response<Bytes> {
        let mut cut = self.0.cut.subscribe();
        tokio::select! {
            biased;
            _ = cut.wait_for(|cut| *cut) => retry(answer::error(
                StatusCode::SERVICE_UNAVAILABLE,
                "stopping",
                "the node took another role before this request was answered",
            )),
            answered = AssertUnwindSafe(self.0.handler.handle(request)).catch_unwind() => answered.unwrap_or_else(|_| {
                tracing::error!("the application panicked while it answered a request");
                answer::error(StatusCode::INTERNAL_SERVER_ERROR, "internal", "this request could not be answered")
            }),
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.in_flight.send_modify(|count| *count -= 1);
    }
}

/// Marks a response as worth another try in a second.
pub(crate) fn retry(mut response: Response<Bytes>) -> Response<Bytes> {
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}
