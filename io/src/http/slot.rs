//! The slot for the handler of whichever role runs.

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

/// What the server answers with: empty, or the handler of one run of a service. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Slot(Arc<Mutex<Option<Arc<Occupant>>>>);

impl Slot {
    /// Takes requests with `handler` from now on; the slot has to be empty.
    pub(crate) fn fill(&self, handler: Arc<dyn ErasedHandler>) -> Arc<Occupant> {
        let occupant = Arc::new(Occupant { handler, in_flight: watch::Sender::new(0), cut: watch::Sender::new(false) });
        let before = self.lock().replace(Arc::clone(&occupant));
        assert!(before.is_none(), "one run of a service ends before another starts");
        occupant
    }

    /// Takes no more requests. Those in flight go on in what is returned.
    pub(crate) fn clear(&self) -> Option<Arc<Occupant>> {
        self.lock().take()
    }

    /// Requests that are being answered by the handler that is in.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.lock().as_ref().map_or(0, |occupant| *occupant.in_flight.borrow())
    }

    /// Answers one request: `503 no_role` where the slot is empty.
    pub(crate) async fn answer(&self, request: Request<Bytes>) -> Response<Bytes> {
        match self.visit() {
            Some(visit) => visit.answer(request).await,
            None => retry(answer::error(
                StatusCode::SERVICE_UNAVAILABLE,
                "no_role",
                "this node has no role in the cluster at present",
            )),
        }
    }

    fn visit(&self) -> Option<Visit> {
        let slot = self.lock();
        let occupant = Arc::clone(slot.as_ref()?);
        // Under the lock: once the slot is cleared the count can only fall.
        occupant.in_flight.send_modify(|count| *count += 1);
        Some(Visit(occupant))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Occupant>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handler with its requests.
pub(crate) struct Occupant {
    handler: Arc<dyn ErasedHandler>,
    in_flight: watch::Sender<usize>,
    cut: watch::Sender<bool>,
}

impl Occupant {
    /// Lets the requests in flight end until `drain` is over, cuts off the rest, and stops the handler.
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
            tracing::error!("the service panicked while it stopped");
        }
    }

    /// Answers the requests in flight in the handler's place.
    pub(crate) fn cut_off(&self) {
        self.cut.send_replace(true);
    }
}

impl fmt::Debug for Occupant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Occupant").field("in_flight", &*self.in_flight.borrow()).finish_non_exhaustive()
    }
}

/// One request in flight.
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
                tracing::error!("the service panicked at a request");
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

/// The same request is worth another try in a second.
pub(crate) fn retry(mut response: Response<Bytes>) -> Response<Bytes> {
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}
