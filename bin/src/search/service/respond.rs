//! Responses to requests.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{LOCATION, RETRY_AFTER};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use rolecall::http::{error, json, only};
use rolecall::{Following, Leader, LeaderTerm, TermOver};

use super::parameters;
use super::refresh::workers;
use super::tasks::HttpTasks;
use crate::search::coordinator::{Coordinator, SearchError};
use crate::search::holdings::Holdings;
use crate::search::wire::{TaskError, TaskRequest};

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
    let answer = if threads {
        let holdings = Arc::clone(holdings);
        match tokio::task::spawn_blocking(move || holdings.answer(&task)).await {
            Ok(answer) => answer,
            Err(failure) => {
                return error(StatusCode::INTERNAL_SERVER_ERROR, "task_failed", &failure.to_string());
            }
        }
    } else {
        holdings.answer(&task)
    };
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
    };
    error(status, code, &reason.to_string())
}

/// Response of a worker to `GET /search`: a redirect to the leader.
pub(super) fn redirect(leader: Option<Leader>, request: &Request<Bytes>) -> Response<Bytes> {
    if let Some(refusal) = only(&[Method::GET], request) {
        return refusal;
    }
    let target = request.uri().path_and_query().map_or("/search", |target| target.as_str());
    match leader {
        Some(Leader::Node { address, .. }) => match HeaderValue::from_str(&format!("http://{address}{target}")) {
            Ok(location) => {
                let mut response = Response::new(Bytes::new());
                *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
                response.headers_mut().insert(LOCATION, location);
                response
            }
            Err(_) => later("no_leader", "the leader's address cannot be used in a redirect"),
        },
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

fn term_over(over: TermOver) -> Response<Bytes> {
    later("term_over", &format!("{over}; ask again, another node leads soon"))
}

fn later(code: &str, message: &str) -> Response<Bytes> {
    let mut response = error(StatusCode::SERVICE_UNAVAILABLE, code, message);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}
