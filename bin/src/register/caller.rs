//! Client of the register.

use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use rolecall::{Clock, Epoch, Incarnation};
use serde::Deserialize;

use super::Reply;
use super::history::{Completion, History, Ticket};
use rolecall::http::{Client, ClientError};

/// Client that records its calls and their results in a history.
#[derive(Clone, Debug)]
pub struct Caller {
    number: u32,
    client: Client,
    clock: Arc<dyn Clock>,
    history: History,
}

/// Result of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The call was done, in this term.
    Done(Epoch),
    /// The call was not done and never will be.
    Refused,
    /// The call may have been done.
    Unknown,
}

impl Caller {
    /// Makes client `number`. All clients of a history must read the same clock.
    #[must_use]
    pub fn new(number: u32, client: Client, clock: Arc<dyn Clock>, history: History) -> Self {
        Self { number, client, clock, history }
    }

    /// Writes a value that nobody else writes, through the node at `address`, and gives up after `patience`.
    pub async fn write(&self, address: &str, patience: Duration) -> Answer {
        let (ticket, value) = self.history.write(self.number, self.clock.now());
        let request = Request::post(format!("/register?{value}"));
        self.call(ticket, address, request, patience).await
    }

    /// Reads the value through the node at `address`, and gives up after `patience`.
    pub async fn read(&self, address: &str, patience: Duration) -> Answer {
        let ticket = self.history.read(self.number, self.clock.now());
        self.call(ticket, address, Request::get("/register"), patience).await
    }

    async fn call(&self, ticket: Ticket, address: &str, request: http::request::Builder, patience: Duration) -> Answer {
        let request = request.body(Bytes::new()).expect("a path with a number is valid");
        let answered = self.client.send(address, request, self.clock.now() + patience).await;
        let at = self.clock.now();
        match judge(answered) {
            Ok(Reply { incarnation, epoch, version, value }) => {
                let incarnation = Incarnation(incarnation);
                self.history.complete(ticket, Completion::Done { at, incarnation, version, value });
                Answer::Done(Epoch(epoch))
            }
            Err(Answer::Refused) => {
                self.history.complete(ticket, Completion::Refused);
                Answer::Refused
            }
            Err(other) => other,
        }
    }
}

fn judge(answered: Result<Response<Bytes>, ClientError>) -> Result<Reply, Answer> {
    match answered {
        Ok(answer) if answer.status() == StatusCode::OK => {
            serde_json::from_slice(answer.body()).map_err(|_| Answer::Unknown)
        }
        Ok(answer) if says_undone(answer.body()) => Err(Answer::Refused),
        Err(error) if !error.may_have_been_sent() => Err(Answer::Refused),
        Ok(_) | Err(_) => Err(Answer::Unknown),
    }
}

/// True if an error says that nothing was done, for example because the node does not lead or its term was over.
fn says_undone(body: &Bytes) -> bool {
    #[derive(Deserialize)]
    struct Body {
        error: Code,
    }
    #[derive(Deserialize)]
    struct Code {
        code: String,
    }
    let code = serde_json::from_slice(body).map(|body: Body| body.error.code);
    code.is_ok_and(|code| matches!(code.as_str(), "wrong_role" | "no_role" | "term_over" | "not_loaded" | "overtaken"))
}
