//! An application that answers requests, as a [`Service`].

use core::error::Error;
use core::fmt;
use core::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};

use super::Slot;
use super::slot::Occupant;
use crate::{Assignment, BoxFuture, Drain, Running, Service};

/// An application that answers requests over HTTP, in each role.
///
/// The node calls [`serve`](Self::serve) each time it takes a role, never twice at once: the handler of one role is stopped
/// before the next is started. While there is no role the node answers `503 no_role` by itself.
///
/// A counter that only the leader raises:
///
/// ```
/// use core::error::Error;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use bytes::Bytes;
/// use http::{Request, Response, StatusCode};
/// use rolecall::Assignment;
/// use rolecall::http::{Application, Handler};
///
/// struct Counter;
///
/// impl Application for Counter {
///     type Handler = Counting;
///
///     async fn serve(&self, assignment: Assignment) -> Result<Counting, Box<dyn Error + Send + Sync>> {
///         Ok(Counting { assignment, count: AtomicU64::new(0) })
///     }
/// }
///
/// struct Counting {
///     assignment: Assignment,
///     count: AtomicU64,
/// }
///
/// impl Handler for Counting {
///     async fn handle(&self, _request: Request<Bytes>) -> Response<Bytes> {
///         let (status, text) = match &self.assignment {
///             // Immediately before the act, not at the start of the request: the term may have ended meanwhile.
///             Assignment::Lead(term) => match term.check() {
///                 Ok(_) => (StatusCode::OK, self.count.fetch_add(1, Ordering::Relaxed).to_string()),
///                 Err(over) => (StatusCode::SERVICE_UNAVAILABLE, over.to_string()),
///             },
///             Assignment::Follow(_) => (StatusCode::CONFLICT, "this node does not lead".into()),
///         };
///         let mut response = Response::new(text.into());
///         *response.status_mut() = status;
///         response
///     }
/// }
/// ```
pub trait Application: Send + Sync + 'static {
    /// Answers the requests of one run in one role.
    type Handler: Handler;

    /// Starts serving what the node is assigned, within the start limit of the configuration. The node takes requests for it
    /// once this returns.
    ///
    /// # Errors
    /// Whatever keeps it from being served; the node tries again later, and a leader that fails again and again resigns.
    fn serve(
        &self,
        assignment: Assignment,
    ) -> impl Future<Output = Result<Self::Handler, Box<dyn Error + Send + Sync>>> + Send;
}

/// The running service of one role.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request. The future may be dropped at any point: when its client goes away, when the time for a request
    /// is over, and when a stop outlasts its drain time. A panic is answered with `500` and harms no other request.
    ///
    /// A leader's handler calls [`LeaderTerm::check`](crate::LeaderTerm::check) immediately before each thing that only a
    /// leader may do.
    fn handle(&self, request: Request<Bytes>) -> impl Future<Output = Response<Bytes>> + Send;

    /// Stops, once, after the last request has ended and before another role starts. It has to end within the grace of the
    /// configuration, for as long as it runs no other role can be taken.
    fn stop(&self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// An [`Application`] as the [`Service`] of a node, whose requests come through a [`Slot`].
#[derive(Clone, Debug)]
pub struct HttpService<A> {
    application: A,
    slot: Slot,
}

impl<A> HttpService<A> {
    /// Serves `application` to whoever asks through `slot`, which nobody else fills.
    pub fn new(application: A, slot: Slot) -> Self {
        Self { application, slot }
    }
}

impl<A: Application> Service for HttpService<A> {
    type Running = Serving;

    async fn start(&self, assignment: Assignment) -> Result<Serving, Box<dyn Error + Send + Sync>> {
        let handler = Arc::new(self.application.serve(assignment).await?);
        Ok(Serving(self.slot.fill(handler), self.slot.clone()))
    }
}

/// One run of an [`HttpService`].
#[derive(Debug)]
pub struct Serving(Arc<Occupant>, Slot);

impl Running for Serving {
    async fn stop(self, drain: Drain) {
        self.1.clear();
        self.0.stop(&drain).await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.1.clear();
        self.0.cut_off();
    }
}

impl fmt::Debug for dyn ErasedHandler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Handler")
    }
}

/// [`Handler`] as an object, for the one slot in which the node keeps whichever runs.
pub(crate) trait ErasedHandler: Send + Sync {
    fn handle<'a>(&'a self, request: Request<Bytes>) -> BoxFuture<'a, Response<Bytes>>;
    fn stop(&self) -> BoxFuture<'_, ()>;
}

impl<H: Handler> ErasedHandler for H {
    fn handle<'a>(&'a self, request: Request<Bytes>) -> BoxFuture<'a, Response<Bytes>> {
        Box::pin(Handler::handle(self, request))
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(Handler::stop(self))
    }
}
