//! The seam to the application.

use core::error::Error;
use core::fmt;
use core::future::Future;

use bytes::Bytes;
use http::{Request, Response};
use rolecall_core::Role;

use crate::Term;

/// What an application does in each role.
///
/// The node calls [`serve`](Self::serve) each time it takes a role, never twice at once: the handler of one role is
/// stopped before the next is started.
pub trait RoleService: Send + Sync + 'static {
    /// Answers the requests of one role during one term.
    type Handler: Handler;

    /// Starts serving `role`. The node takes requests for it once this returns.
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
    /// Answers one request, which may be cut off when a stop outlasts its drain time.
    ///
    /// A leader's handler calls [`Term::check`] immediately before each thing that only a leader may do.
    fn handle(&self, request: Request<Bytes>) -> impl Future<Output = Response<Bytes>> + Send;

    /// Called once, after the last request has ended and before another role starts.
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
