//! The seam to the application.

use core::error::Error;
use core::fmt;
use core::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use rolecall_core::Role;

use crate::Term;

/// What an application does in each role.
///
/// The node calls [`serve`](Self::serve) each time it takes a role, never twice at once: the handler of one role is
/// stopped before the next is started. [`Role::None`] is never served: the node answers `503 no_role` by itself.
///
/// A counter that only the leader raises:
///
/// ```
/// use core::error::Error;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use bytes::Bytes;
/// use http::{Request, Response, StatusCode};
/// use rolecall_core::Role;
/// use rolecall::{Handler, RoleService, Term};
///
/// struct Counter;
///
/// impl RoleService for Counter {
///     type Handler = Counting;
///
///     async fn serve(&self, _role: Role, term: Term) -> Result<Counting, Box<dyn Error + Send + Sync>> {
///         Ok(Counting { term, count: AtomicU64::new(0) })
///     }
/// }
///
/// struct Counting {
///     term: Term,
///     count: AtomicU64,
/// }
///
/// impl Handler for Counting {
///     async fn handle(&self, _request: Request<Bytes>) -> Response<Bytes> {
///         // Immediately before the act, not at the start of the request: the term may have ended meanwhile.
///         let (status, text) = match self.term.check() {
///             Ok(_) => (StatusCode::OK, self.count.fetch_add(1, Ordering::Relaxed).to_string()),
///             Err(over) => (StatusCode::SERVICE_UNAVAILABLE, over.to_string()),
///         };
///         let mut response = Response::new(text.into());
///         *response.status_mut() = status;
///         response
///     }
/// }
/// ```
pub trait RoleService: Send + Sync + 'static {
    /// Answers the requests of one role during one term.
    type Handler: Handler;

    /// Starts serving `role`, within the start limit of the configuration. The node takes requests for it once this
    /// returns. Tasks of its own end with [`Term::stopping`] or, what only a leader may do, with [`Term::ended`].
    ///
    /// # Errors
    /// Whatever keeps the role from being served; the node tries again later, and a leader that fails again and again
    /// resigns.
    fn serve(
        &self,
        role: Role,
        term: Term,
    ) -> impl Future<Output = Result<Self::Handler, Box<dyn Error + Send + Sync>>> + Send;
}

/// The running service of one role.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request. The future may be dropped at any point: when its client goes away, when the time for a request
    /// is over, and when a stop outlasts its drain time. A panic is answered with `500` and harms no other request.
    ///
    /// A leader's handler calls [`Term::check`] immediately before each thing that only a leader may do.
    fn handle(&self, request: Request<Bytes>) -> impl Future<Output = Response<Bytes>> + Send;

    /// Called once, after the last request has ended and before another role starts. It has to end within the grace of
    /// the configuration, for as long as it runs no other role can be taken.
    fn stop(&self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

impl fmt::Debug for dyn ErasedHandler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Handler")
    }
}

/// [`Handler`] as an object, for the one slot in which the node keeps whichever runs.
pub(crate) trait ErasedHandler: Send + Sync {
    fn handle<'a>(&'a self, request: Request<Bytes>) -> crate::BoxFuture<'a, Response<Bytes>>;
    fn stop(&self) -> crate::BoxFuture<'_, ()>;
}

impl<H: Handler> ErasedHandler for H {
    fn handle<'a>(&'a self, request: Request<Bytes>) -> crate::BoxFuture<'a, Response<Bytes>> {
        Box::pin(Handler::handle(self, request))
    }

    fn stop(&self) -> crate::BoxFuture<'_, ()> {
        Box::pin(Handler::stop(self))
    }
}

/// Why a service could not be started.
pub(crate) type ServeError = Box<dyn Error + Send + Sync>;

/// [`RoleService`] as an object.
pub(crate) trait ErasedService: Send + Sync {
    fn serve(&self, role: Role, term: Term) -> crate::BoxFuture<'_, Result<Arc<dyn ErasedHandler>, ServeError>>;
}

impl<S: RoleService> ErasedService for S {
    fn serve(&self, role: Role, term: Term) -> crate::BoxFuture<'_, Result<Arc<dyn ErasedHandler>, ServeError>> {
        Box::pin(async move {
            let handler = RoleService::serve(self, role, term).await?;
            Ok(Arc::new(handler) as Arc<dyn ErasedHandler>)
        })
    }
}

impl fmt::Debug for dyn ErasedService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Service")
    }
}
