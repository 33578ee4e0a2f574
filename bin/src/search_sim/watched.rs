//! Search service watched from outside: records when it begins a leader-only act, and for which leader it works.

use core::error::Error;
use core::future::poll_fn;
use core::pin::pin;
use core::task::Poll;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use rolecall::http::{Application, Handler};
use rolecall::{Assignment, Epoch, Fence, LeaderTerm};
use rolecall_sim::Acts;
use serde::Deserialize;

use crate::search::coordinator::SearchAnswer;
use crate::search::{SearchHandler, SearchService};

/// Search service that is watched.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    search: SearchService,
    acts: Acts,
}

/// Run of a watched service.
#[derive(Debug)]
pub(super) struct Watching {
    handler: SearchHandler,
    assignment: Assignment,
    acts: Acts,
}

/// Sender of a task, read from the body of `POST /task`.
#[derive(Debug, Deserialize)]
pub(super) struct Sender {
    pub(super) fence: Fence,
}

impl Watched {
    pub(super) fn new(search: SearchService, acts: Acts) -> Self {
        Self { search, acts }
    }
}

impl Application for Watched {
    type Handler = Watching;

    async fn serve(&self, assignment: Assignment) -> Result<Watching, Box<dyn Error + Send + Sync>> {
        let handler = self.search.serve(assignment.clone()).await?;
        Ok(Watching { handler, assignment, acts: self.acts.clone() })
    }
}

impl Handler for Watching {
    async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        match (&self.assignment, request.uri().path()) {
            (Assignment::Lead(term), "/search") => self.lead(term, request).await,
            (Assignment::Follow(_), "/task") => self.work(request).await,
            (Assignment::Lead(_) | Assignment::Follow(_), _) => self.handler.handle(request).await,
        }
    }

    async fn stop(&self) {
        self.handler.stop().await;
    }
}

impl Watching {
    /// A search that is not refused at once has begun; one that is answered tells the epoch in which that begins.
    async fn lead(&self, term: &LeaderTerm, request: Request<Bytes>) -> Response<Bytes> {
        let mut search = pin!(self.handler.handle(request));
        let at_once = poll_fn(|context| Poll::Ready(search.as_mut().poll(context))).await;
        let response = match at_once {
            Poll::Ready(response) => response,
            Poll::Pending => {
                self.begins(term, None);
                search.await
            }
        };
        if response.status() != StatusCode::SERVICE_UNAVAILABLE {
            let answer = serde_json::from_slice::<SearchAnswer>(response.body());
            self.begins(term, answer.ok().map(|answer| Epoch(answer.epoch)));
        }
        response
    }

    fn begins(&self, term: &LeaderTerm, epoch: Option<Epoch>) {
        let fence = term.fence();
        self.acts.begin(Fence { epoch: epoch.unwrap_or(fence.epoch), ..fence });
    }

    /// Without threads a task is done in the instant in which it is admitted.
    async fn work(&self, request: Request<Bytes>) -> Response<Bytes> {
        let sender = serde_json::from_slice::<Sender>(request.body());
        let response = self.handler.handle(request).await;
        if response.status() == StatusCode::OK
            && let Ok(Sender { fence }) = sender
        {
            self.acts.accept(fence);
        }
        response
    }
}
