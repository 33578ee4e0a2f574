//! Connection of the server, with the limits on its requests.

use core::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rolecall_core::Time;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::patience::Patient;
use super::slot::retry;
use super::{Front, HandlerSlot, Hosts, Peer, ServerLimits, answer};
use crate::{Clock, Stream};

/// State that all connections of a server share.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) slot: HandlerSlot,
    pub(super) front: Option<Arc<dyn Front>>,
    pub(super) hosts: Arc<Hosts>,
    pub(super) limits: Arc<ServerLimits>,
    pub(super) requests: Arc<Semaphore>,
    pub(super) closing: watch::Receiver<bool>,
}

/// Permission for a connection to be served, or only to be refused. It is given back when the connection ends.
#[derive(Debug)]
pub(super) enum Admission {
    Serve(#[allow(dead_code, reason = "held for its drop")] OwnedSemaphorePermit),
    Refuse(#[allow(dead_code, reason = "held for its drop")] OwnedSemaphorePermit),
}

impl Connection {
    pub(super) async fn serve(self, stream: Box<dyn Stream>, peer: Peer, admission: Admission) {
        let limits = &self.limits;
        let refuse = matches!(admission, Admission::Refuse(_));
        let service = service_fn(|request| {
            let peer = peer.clone();
            async {
                let response = if refuse { closing(overloaded()) } else { self.answer(request, peer).await };
                Ok::<_, Infallible>(response.map(Full::new))
            }
        });
        let stream = TokioIo::new(Patient::new(stream, limits.write_time));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head_time)
            .max_header_size(limits.head_bytes)
            .max_buf_size(limits.head_bytes.max(16 * 1024))
            .half_close(true)
            .auto_date_header(limits.date_header)
            .serve_connection(stream, service);
        tokio::pin!(connection);
        let mut closing = self.closing.clone();
        let closing = async move { drop(closing.wait_for(|closing| *closing).await) };
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = closing => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(peer = &*peer.0, %error, "a connection ended badly");
        }
    }

    async fn answer(&self, request: Request<Incoming>, peer: Peer) -> Response<Bytes> {
        let until = self.clock.now() + self.limits.request_time;
        let (mut head, body) = request.into_parts();
        head.extensions.insert(peer);
        if head.method == Method::OPTIONS && head.uri.path() == "*" {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::NO_CONTENT;
            return response;
        }
        if head.method == Method::CONNECT {
            // A response of 200 would turn the connection into a tunnel.
            return closing(answer::error(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "this is not a proxy"));
        }
        let mut head = Request::from_parts(head, ());
        if let Some(refusal) = self.hosts.refusal(&head) {
            return closing(refusal);
        }
        if let Some(front) = &self.front {
            let answered = self.before(until, front.answer(&head)).await;
            match answered {
                Some(Some(response)) => return response,
                Some(None) => {}
                None => return too_slow(),
            }
        }
        let Ok(_permit) = self.requests.try_acquire() else {
            return overloaded();
        };
        let body = match self.read(&head, body, until).await {
            Ok(body) => body,
            Err(refusal) => return closing(refusal),
        };
        // A HEAD is a GET without the response's body, which hyper leaves out.
        if head.method() == Method::HEAD {
            *head.method_mut() = Method::GET;
        }
        self.before(until, self.slot.answer(head.map(|()| body))).await.unwrap_or_else(too_slow)
    }

    async fn read(&self, head: &Request<()>, body: Incoming, until: Time) -> Result<Bytes, Response<Bytes>> {
        let limit = self.limits.body_bytes;
        let too_large = || {
            let message = format!("the body of the request is too large; at most {limit} bytes are accepted");
            answer::error(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", &message)
        };
        if body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
            return Err(too_large());
        }
        if body.is_end_stream() && !head.headers().contains_key(CONTENT_LENGTH) {
            return Ok(Bytes::new());
        }
        match self.before(until, Limited::new(body, limit).collect()).await {
            Some(Ok(body)) => Ok(body.to_bytes()),
            Some(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
            Some(Err(_)) => Err(answer::error(
                StatusCode::BAD_REQUEST,
                "bad_body",
                "the body of the request ended early or is malformed",
            )),
            None => Err(answer::error(
                StatusCode::REQUEST_TIMEOUT,
                "body_too_slow",
                "the body of the request did not arrive in time",
            )),
        }
    }

    /// Waits for `future`, but not past `until`: then returns `None`.
    async fn before<T>(&self, until: Time, future: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            value = future => Some(value),
            () = self.clock.sleep_until(until) => None,
        }
    }
}

fn overloaded() -> Response<Bytes> {
    retry(answer::error(
        StatusCode::SERVICE_UNAVAILABLE,
        "overloaded",
        "this node is as busy as it can be; try again later",
    ))
}

fn too_slow() -> Response<Bytes> {
    answer::error(StatusCode::GATEWAY_TIMEOUT, "too_slow", "the request could not be answered in time")
}

/// Marks a response after which the rest of the client's data must be ignored, so the connection closes.
fn closing(mut response: Response<Bytes>) -> Response<Bytes> {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
