//! Layer for [tower](https://docs.rs/tower) services, axum's among them: only a leader's handlers are called.

use core::future::Future;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use http::header::{LOCATION, RETRY_AFTER};
use http::uri::Scheme;
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use rolecall_core::{Fence, Leader};
use tower_layer::Layer;
use tower_service::Service;

use crate::Observer;

/// Layer that lets requests through on the leader alone.
///
/// - On the leader the term is checked right before the service is called, in the same poll. The request gets the term's
///   [`Fence`] as an extension: whatever a handler writes elsewhere carries it, so that a write that arrives too late can be
///   refused there (see [`Watermark`](crate::Watermark)).
/// - On any other member the answer is `307 Temporary Redirect` to the same path at the leader's address.
/// - While there is no leader, or none with an address, it is `503 Service Unavailable` with `Retry-After`.
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use rolecall::{Config, Fence, LeaderLayer, NodeBuilder, StoreUrl};
/// # struct Idle;
/// # impl rolecall::Service for Idle {
/// #     type Running = ();
/// #     async fn start(&self, _: rolecall::Assignment) -> Result<(), Box<dyn std::error::Error + Send + Sync>> { Ok(()) }
/// # }
/// use axum::{Extension, Router, routing::post};
///
/// # let store: StoreUrl = "memory:".parse()?;
/// # let open = move |participant| store.open(participant);
/// let node = NodeBuilder::new(Config::new("a"), Idle, open).address("10.0.0.5:8080").start().await?;
/// let app: Router = Router::new()
///     .route("/orders", post(|Extension(fence): Extension<Fence>| async move { format!("under {}", fence.epoch.0) }))
///     .layer(LeaderLayer::new(node.observer().clone()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct LeaderLayer {
    observer: Observer,
    scheme: Scheme,
    retry_after: Duration,
}

impl LeaderLayer {
    /// Makes a layer for the member that `observer` looks at.
    #[must_use]
    pub fn new(observer: Observer) -> Self {
        Self { observer, scheme: Scheme::HTTP, retry_after: Duration::from_secs(1) }
    }

    /// Scheme of redirects. Default: `http`.
    #[must_use]
    pub fn scheme(mut self, scheme: Scheme) -> Self {
        self.scheme = scheme;
        self
    }

    /// Time after which a client may ask again while there is no leader, in whole seconds. Default: 1 s.
    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = delay;
        self
    }

    /// The answer of a member that does not lead.
    fn refuse<Body: Default>(&self, uri: &Uri) -> Response<Body> {
        let mut response = Response::new(Body::default());
        let leader = self.observer.status().leader.and_then(|leader| self.elsewhere(leader));
        if let Some(target) = leader.and_then(|address| location(&self.scheme, &address, uri)) {
            *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
            response.headers_mut().insert(LOCATION, target);
        } else {
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            response.headers_mut().insert(RETRY_AFTER, self.retry_after.as_secs().max(1).into());
        }
        response
    }

    /// Address of the leader, if it is another member that has one. A term of this member that has just ended is still shown
    /// as the leader's for a moment.
    fn elsewhere(&self, leader: Leader) -> Option<Arc<str>> {
        match leader {
            Leader::Node { id, address, .. } => (id != *self.observer.id() && !address.is_empty()).then_some(address),
            Leader::Foreign { .. } => None,
        }
    }
}

fn location(scheme: &Scheme, address: &str, uri: &Uri) -> Option<HeaderValue> {
    let path = uri.path_and_query().map_or("/", |target| target.as_str());
    HeaderValue::from_str(&format!("{scheme}://{address}{path}")).ok()
}

impl<S> Layer<S> for LeaderLayer {
    type Service = LeaderOnly<S>;

    fn layer(&self, inner: S) -> LeaderOnly<S> {
        LeaderOnly { layer: self.clone(), inner }
    }
}

/// Service behind a [`LeaderLayer`].
#[derive(Clone, Debug)]
pub struct LeaderOnly<S> {
    layer: LeaderLayer,
    inner: S,
}

impl<S, RequestBody, ResponseBody> Service<Request<RequestBody>> for LeaderOnly<S>
where
    S: Service<Request<RequestBody>, Response = Response<ResponseBody>> + Clone + Send + 'static,
    S::Future: Send,
    RequestBody: Send + 'static,
    ResponseBody: Default,
{
    type Response = Response<ResponseBody>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<RequestBody>) -> Self::Future {
        // The service that was polled ready is the one to be called; a clone of it need not be.
        let spare = self.inner.clone();
        let mut inner = mem::replace(&mut self.inner, spare);
        let layer = self.layer.clone();
        Box::pin(async move {
            match layer.observer.term() {
                Some((fence, _)) => {
                    request.extensions_mut().insert::<Fence>(fence);
                    inner.call(request).await
                }
                None => Ok(layer.refuse(request.uri())),
            }
        })
    }
}
