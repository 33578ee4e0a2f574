//! Slot for the handler of the present role.

use core::fmt;
use core::panic::AssertUnwindSafe;
use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::FutureExt;
use http::header::RETRY_AFTER;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

use super::answer;
use super::application::ErasedHandler;
use crate::Drain;

/// Time after the end of a role for which a request waits for the next one.
const HOLD: Duration = Duration::from_secs(2);

/// Place for the handler to which the server passes requests. Empty while the node has no role. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct HandlerSlot(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    content: Mutex<Content>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Content {
    occupant: Option<Arc<Occupant>>,
    /// Time until which requests wait for the next role, after one has ended.
    held_until: Option<Instant>,
}

impl HandlerSlot {
    /// Passes requests to `handler` from now on. The slot must be empty.
    pub(crate) fn fill(&self, handler: Arc<dyn ErasedHandler>) -> Arc<Occupant> {
        let occupant = Arc::new(Occupant { handler, in_flight: watch::Sender::new(0), cut: watch::Sender::new(false) });
        let before = self.lock().occupant.replace(Arc::clone(&occupant));
        assert!(before.is_none(), "one run of a service ends before another starts");
        self.0.changed.notify_waiters();
        occupant
    }

    /// Empties the slot. Requests in flight go on in the occupant that is returned.
    pub(crate) fn clear(&self) -> Option<Arc<Occupant>> {
        let mut content = self.lock();
        content.held_until = Some(Instant::now() + HOLD);
        content.occupant.take()
    }

    /// Lets no request wait any more: the node has ended.
    pub(crate) fn close(&self) {
        self.lock().held_until = None;
        self.0.changed.notify_waiters();
    }

    /// Number of requests that the present handler is answering.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.lock().occupant.as_ref().map_or(0, |occupant| *occupant.in_flight.borrow())
    }

    /// Answers one request: with `503 no_role` if the slot is empty. Between two roles a `GET` waits for the next one,
    /// so that a planned change of roles fails no reader.
    pub(crate) async fn answer(&self, request: Request<Bytes>) -> Response<Bytes> {
        if request.method() == Method::GET {
            self.until_filled().await;
        }
        match self.visit() {
            Some(visit) => visit.answer(request).await,
            None => retry(answer::error(
                StatusCode::SERVICE_UNAVAILABLE,
                "no_role",
                "this node has no role in the cluster at the moment",
            )),
        }
    }

    /// Waits until the slot is filled, for as long as requests are held.
    async fn until_filled(&self) {
        loop {
            let changed = self.0.changed.notified();
            let until = {
                let content = self.lock();
                content.held_until.filter(|until| content.occupant.is_none() && Instant::now() < *until)
            };
            let Some(until) = until else { return };
            drop(timeout_at(until, changed).await);
        }
    }

    fn visit(&self) -> Option<Visit> {
        let slot = self.lock();
        let occupant = Arc::clone(slot.occupant.as_ref()?);
        // Count under the lock, so that the count can only fall once the slot is empty.
        occupant.in_flight.send_modify(|count| *count += 1);
        Some(Visit(occupant))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Content> {
        self.0.content.lock().unwrap_or_else(PoisonError::into_inner)
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
