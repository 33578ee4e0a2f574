//! Client that sends tasks over HTTP.

use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request, StatusCode};
use rolecall::http::{Client, Idempotent};
use rolecall::{LeaderTerm, Time};
use serde::Deserialize;

use crate::search::TASK_PATH;
use crate::search::coordinator::{TaskClient, TaskFailure, Worker};
use crate::search::settings::Settings;
use crate::search::shares::Shares;
use crate::search::wire::{Task, TaskAnswer, TaskRequest, VERSION};

/// Client that sends tasks to workers during one term, each with the worker's share.
#[derive(Clone)]
pub(super) struct HttpTasks {
    pub(super) client: Client,
    pub(super) term: LeaderTerm,
    pub(super) settings: Settings,
    pub(super) shares: Arc<Shares>,
}

impl TaskClient for HttpTasks {
    async fn send(&self, worker: &Worker, task: &Task, deadline: Time) -> Result<TaskAnswer, TaskFailure> {
        let mut body = TaskRequest {
            version: VERSION,
            fence: self.term.check()?,
            settings: self.settings,
            share: self.shares.of(&worker.id),
            task: task.clone(),
        };
        // Making the body takes a while, so check the term again right before sending.
        let bytes = to_json(&body)?;
        let fence = self.term.check()?;
        let bytes = if fence == body.fence {
            bytes
        } else {
            body.fence = fence;
            to_json(&body)?
        };
        let request = Request::builder()
            .method(Method::POST)
            .uri(TASK_PATH)
            .header(CONTENT_TYPE, "application/json")
            .extension(Idempotent)
            .body(bytes)
            .map_err(failed)?;
        let answer = self.client.send(&worker.address, request, deadline).await.map_err(failed)?;
        if answer.status() == StatusCode::OK {
            return serde_json::from_slice(answer.body()).map_err(failed);
        }
        // The task was refused for its epoch, so the term may be over. If it is not, ask others.
        self.term.check()?;
        let refusal = serde_json::from_slice::<Refusal>(answer.body());
        let reason =
            refusal.map_or_else(|_| String::new(), |Refusal { error }| format!(" {}: {}", error.code, error.message));
        Err(TaskFailure::Failed(format!("{} answers {}{reason}", worker.id, answer.status())))
    }
}

#[derive(Deserialize)]
struct Refusal {
    error: Reason,
}

#[derive(Deserialize)]
struct Reason {
    code: String,
    message: String,
}

fn to_json(request: &TaskRequest) -> Result<Bytes, TaskFailure> {
    serde_json::to_vec(request).map(Bytes::from).map_err(failed)
}

fn failed(error: impl core::fmt::Display) -> TaskFailure {
    TaskFailure::Failed(error.to_string())
}
