//! Application that answers HTTP requests, as a [`Service`].

use core::error::Error;
use core::fmt;
use core::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};

use super::HandlerSlot;
use super::slot::Occupant;
use crate::{Assignment, BoxFuture, Drain, Running, Service};

/// Application that answers requests over HTTP, in each role.
///
/// The node calls [`serve`](Self::serve) each time it takes a role. It stops the handler of one role before it starts the
/// next, so two never overlap. Without a role, the node answers `503 no_role` by itself.
///
/// A counter that only the leader increments:
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
///             // Check immediately before the act, not at the start of the request: the term may have ended meanwhile.
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
    /// Handler of the requests in one role.
    type Handler: Handler;

    /// Starts serving in the assigned role. It must return within the start limit of the configuration. After that, the node
    /// passes requests to the handler.
    ///
    /// # Errors
    /// Any error that prevents the start. The node tries again later; a leader that fails repeatedly resigns.
    fn serve(
        &self,
        assignment: Assignment,
    ) -> impl Future<Output = Result<Self::Handler, Box<dyn Error + Send + Sync>>> + Send;
}

/// Handler of requests while the node has one role.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request. The future may be dropped at any point: when the client goes away, when the time for the request
    /// is over, or when a stop outlasts its drain time. A panic is answered with `500` and affects no other request.
    ///
    /// A leader's handler must call [`LeaderTerm::check`](crate::LeaderTerm::check) immediately before each act that only a
    /// leader may perform.
    fn handle(&self, request: Request<Bytes>) -> impl Future<Output = Response<Bytes>> + Send;

    /// Stops the handler. Called once, after the last request has ended and before another role starts. It must return
    /// within the stop grace of the configuration, because the node cannot take another role before.
    fn stop(&self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// [`Application`] as the [`Service`] of a node. Its requests come through a [`HandlerSlot`].
#[derive(Clone, Debug)]
pub struct HttpService<A> {
    application: A,
    slot: HandlerSlot,
}

impl<A> HttpService<A> {
    /// Serves `application` through `slot`, which nobody else may fill.
    pub fn new(application: A, slot: HandlerSlot) -> Self {
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

/// Run of an [`HttpService`].
#[derive(Debug)]
pub struct Serving(Arc<Occupant>, HandlerSlot);

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

/// Object-safe form of [`Handler`], for the slot that holds the present one.
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
