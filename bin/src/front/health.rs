//! Health routes `/health/*`, for supervisors that restart nodes and for load balancers that send them requests.

use bytes::Bytes;
use http::{Response, StatusCode};
use rolecall::Observer;
use rolecall::http::{error, json};
use rolecall::store::Denial;
use serde::Serialize;

/// Answer of a node that serves its role.
#[derive(Serialize)]
struct Ready {
    ready: bool,
    /// What the store denies nevertheless.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    denied: Vec<String>,
}

/// Denials in words.
pub(super) fn told(denied: &[Denial]) -> Vec<String> {
    denied.iter().map(ToString::to_string).collect()
}

/// Answers whether the node's own loop is running.
pub(super) fn live(observer: &Observer) -> Response<Bytes> {
    if observer.is_alive() {
        json(StatusCode::OK, &serde_json::json!({ "live": true }))
    } else {
        error(StatusCode::SERVICE_UNAVAILABLE, "stuck", "the node's own loop is stuck; restart this node")
    }
}

/// Answers whether the node serves its role.
pub(super) fn ready(observer: &Observer) -> Response<Bytes> {
    let status = observer.status();
    match status.ready() {
        Ok(()) => json(StatusCode::OK, &Ready { ready: true, denied: told(&status.denied) }),
        Err(reason) => error(StatusCode::SERVICE_UNAVAILABLE, "not_ready", &reason),
    }
}
