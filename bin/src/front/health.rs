//! Health routes `/health/*`, for supervisors that restart nodes and for load balancers that send them requests.

use bytes::Bytes;
use http::{Response, StatusCode};
use rolecall::Observer;
use rolecall::http::{error, json};

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
    match observer.status().ready() {
        Ok(()) => json(StatusCode::OK, &serde_json::json!({ "ready": true })),
        Err(reason) => error(StatusCode::SERVICE_UNAVAILABLE, "not_ready", &reason),
    }
}
