//! Responses to requests.

use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{HOST, LOCATION, RETRY_AFTER};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use rolecall::http::{error, json, only};
use rolecall::{Clock, Following, Leader, LeaderTerm, TermOver};

use super::parameters;
use super::refresh::workers;
use super::tasks::HttpTasks;
use crate::search::coordinator::{Coordinator, SearchError};
use crate::search::holdings::Holdings;
use crate::search::wire::{TaskError, TaskRequest};

/// Longest time for which a search waits for a leader.
const LEADER_WAIT: Duration = Duration::from_secs(2);

/// Response of a worker to `POST /task`.
pub(super) async fn task(
    following: &Following,
    holdings: &Arc<Holdings>,
    threads: bool,
    request: &Request<Bytes>,
) -> Response<Bytes> {
    if let Some(refusal) = only(&[Method::POST], request) {
        return refusal;
    }
    let request: TaskRequest = match serde_json::from_slice(request.body()) {
        Ok(request) => request,
        Err(reason) => {
            return error(StatusCode::BAD_REQUEST, "bad_task", &format!("the body is not a task: {reason}"));
        }
    };
    if let Err(stale) = following.admit(request.fence).await {
        return error(StatusCode::CONFLICT, "stale_epoch", &stale.to_string());
    }
    if let Err(reason) = request.check(holdings.settings()) {
        return refused(&reason);
    }
    let TaskRequest { fence, share, task, .. } = request;
    if let Some(share) = share {
        holdings.follow(fence, &share);
    }
    let answer = if threads { Arc::clone(holdings).answer_on_threads(task).await } else { holdings.answer(&task) };
    match answer {
        Ok(answer) => json(StatusCode::OK, &answer),
        Err(reason) => refused(&reason),
    }
}

fn refused(reason: &TaskError) -> Response<Bytes> {
    let (status, code) = match reason {
        TaskError::OtherVersion(_) => (StatusCode::CONFLICT, "other_version"),
        TaskError::OtherSettings { .. } => (StatusCode::CONFLICT, "other_settings"),
        TaskError::Malformed(_) => (StatusCode::BAD_REQUEST, "bad_task"),
        TaskError::Io(_) | TaskError::Index(_) => (StatusCode::INTERNAL_SERVER_ERROR, "index_unreadable"),
        TaskError::Thread(_) => (StatusCode::INTERNAL_SERVER_ERROR, "task_failed"),
    };
    error(status, code, &reason.to_string())
}

/// Response of a worker to `GET /search`: a redirect to the leader. While no leader is known, the search waits for one,
/// since a planned change of leader takes a moment only.
pub(super) async fn redirect(
    following: &Following,
    clock: &Arc<dyn Clock>,
    request: &Request<Bytes>,
) -> Response<Bytes> {
    if let Some(refusal) = only(&[Method::GET], request) {
        return refusal;
    }
    let target = request.uri().path_and_query().map_or("/search", |target| target.as_str());
    let leader = match following.leader() {
        Some(leader) => Some(leader),
        None => tokio::select! {
            biased;
            leader = following.until_led() => Some(leader),
            // This node takes another role, and must not be kept from it: the same request will find that role.
            () = following.stopping() => return redirect_to_itself(request, target),
            () = clock.sleep_until(clock.now() + LEADER_WAIT) => None,
        },
    };
    match leader {
        Some(Leader::Node { address, .. }) => redirect_to(&format!("http://{address}{target}")),
        None => later("no_leader", "no leader is known at the moment; ask again soon"),
        Some(Leader::Foreign { .. }) => {
            later("foreign_leader", "the leader is not a Rolecall node, so nobody can search")
        }
    }
}

/// Response of the leader to `GET /search`. The term is checked before any work, and again right before the answer.
pub(super) async fn search(
    term: &LeaderTerm,
    coordinator: &Coordinator<HttpTasks>,
    node: &str,
    request: &Request<Bytes>,
) -> Response<Bytes> {
    if let Some(refusal) = only(&[Method::GET], request) {
        return refusal;
    }
    if let Err(over) = term.check() {
        return term_over(over);
    }
    let search = match parameters::parse(request.uri().query().unwrap_or_default()) {
        Ok(search) => search,
        Err(reason) => return error(StatusCode::BAD_REQUEST, "bad_query", &reason.to_string()),
    };
    let members = term.members();
    let answer = coordinator.search(&search, &|| workers(&members.now(), node)).await;
    let mut answer = match answer {
        Ok(answer) => answer,
        Err(SearchError::TermOver(over)) => return term_over(over),
        Err(reason @ (SearchError::BadQuery(_) | SearchError::BadLimit(_) | SearchError::BadOffset(_))) => {
            return error(StatusCode::BAD_REQUEST, "bad_query", &reason.to_string());
        }
    };
    answer.epoch = term.fence().epoch.0;
    let response = json(StatusCode::OK, &answer);
    match term.check() {
        Ok(_) => response,
        Err(over) => term_over(over),
    }
}

/// Redirect to the host that the client has asked, as the client named it.
fn redirect_to_itself(request: &Request<Bytes>, target: &str) -> Response<Bytes> {
    match request.headers().get(HOST).and_then(|host| host.to_str().ok()) {
        Some(host) => redirect_to(&format!("http://{host}{target}")),
        None => later("no_leader", "this node is changing its role; ask again soon"),
    }
}

/// Redirect to a URL.
fn redirect_to(location: &str) -> Response<Bytes> {
    let Ok(location) = HeaderValue::from_str(location) else {
        return later("no_leader", "the leader's address cannot be used in a redirect");
    };
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    response.headers_mut().insert(LOCATION, location);
    response
}

fn term_over(over: TermOver) -> Response<Bytes> {
    later("term_over", &format!("{over}; ask again, another node leads soon"))
}

fn later(code: &str, message: &str) -> Response<Bytes> {
    let mut response = error(StatusCode::SERVICE_UNAVAILABLE, code, message);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}
