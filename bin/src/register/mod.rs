//! Register guarded by the epoch: an application whose clients can prove every mistake about leadership.
//!
//! ```text
//!  clients ── write, read ──► leader ── load, store, each with its fence ──► storage: refuses older fences
//!     └─ each operation: begun, then done, refused or unknown ─► History ─► is there an order that explains it?
//! ```
//!
//! The register counts its writes, and every answer carries the version. When the leader of a term is first asked, it loads
//! version and value from the storage, which thereby sees the leader's fence. The leader answers reads from memory, right
//! after [`LeaderTerm::check`]. It passes a write on to the storage with the fence that the check has just returned. Once the
//! storage has done the write, the leader remembers it and answers with the next version. It can count versions itself,
//! because it is the only writer.
//!
//! This is linearizable if the promises hold:
//! - Writes take effect in the storage, one after the other. Once the storage has seen the fence of a term, it refuses older
//!   ones (P14). So once a leader has loaded, only this leader writes.
//! - A read takes effect when the term is checked. No later term has begun by then (P1), so no later leader has loaded and
//!   written. The leader's memory therefore equals the storage, except for a write of its own that no client knows to be done.
//! - A write whose result the leader does not know (no answer, or a client that hung up) may still take effect at any time,
//!   which is right, because its client does not know either. The leader loads again before its next write, which shuts the
//!   old write out for good if it has not arrived. A load by the next leader does the same.
//!
//! If a promise is broken, the history shows it. A leader that answers after its term names a version from before a write that
//! has been done since. A write that is let in late, or done twice, is counted by the storage but not by the leader, so that
//! after the next load one value has two versions. So the history of all clients judges the promises without looking at any
//! clock or term.
//!
//! Terms of two incarnations of the coordination store do not compare, so each incarnation has its own register, empty at
//! first.

mod caller;
mod history;
mod linear;
#[cfg(feature = "sim")]
pub mod sim;
mod storage;

use core::error::Error;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use rolecall::{Assignment, Clock, Fence, LeaderTerm};
use serde::{Deserialize, Serialize};

pub use self::caller::{Answer, Caller};
pub use self::history::{Call, Completion, History, Operation, Ticket};
pub use self::linear::{Anomaly, NotLinearizable, check};
pub use self::storage::{Loaded, Refusal, Storage};
use rolecall::http::{Application, Client, Handler, error, json};

/// The application, as a node starts it.
#[derive(Clone, Debug)]
pub struct Register {
    client: Client,
    clock: Arc<dyn Clock>,
    storage: Arc<str>,
    patience: Duration,
}

impl Register {
    /// Makes a register on the [`Storage`] at the address `storage` (`host:port`). Requests to it are given up after
    /// `patience`, which may be longer than a term, because the storage refuses writes that arrive too late.
    #[must_use]
    pub fn new(client: Client, clock: Arc<dyn Clock>, storage: impl Into<Arc<str>>, patience: Duration) -> Self {
        Self { client, clock, storage: storage.into(), patience }
    }
}

impl Application for Register {
    type Handler = Serving;

    async fn serve(&self, assignment: Assignment) -> Result<Serving, Box<dyn Error + Send + Sync>> {
        Ok(match assignment {
            Assignment::Lead(term) => Serving::Leader(Box::new(Leading {
                register: self.clone(),
                term,
                memory: Mutex::default(),
                turn: tokio::sync::Mutex::default(),
            })),
            Assignment::Follow(_) => Serving::Worker,
        })
    }
}

/// Run of the application in one role.
#[derive(Debug)]
pub enum Serving {
    /// The node leads.
    Leader(Box<Leading>),
    /// Another node leads.
    Worker,
}

/// Run of the application during one term.
#[derive(Debug)]
pub struct Leading {
    register: Register,
    term: LeaderTerm,
    /// State of the storage, once it has been loaded in this term.
    memory: Mutex<Option<Memory>>,
    /// Lock held while a request to the storage is in progress, so that there is only one.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Clone, Copy, Debug)]
struct Memory {
    loaded: Loaded,
    /// True if a write of unknown result was sent since the load.
    is_unsure: bool,
}

/// Body of a leader's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) incarnation: u64,
    pub(crate) epoch: u64,
    pub(crate) version: u64,
    pub(crate) value: Option<u64>,
}

/// Reason why a leader did not do an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    /// The term is over. Nothing was done.
    TermOver,
    /// The storage did not answer the load. Nothing was done.
    NotLoaded,
    /// The leader loaded again before its write arrived at the storage. Nothing was done.
    Overtaken,
    /// The storage may have done the write.
    Unknown,
}

impl Reply {
    fn by(Fence { incarnation, epoch }: Fence, Loaded { version, value, .. }: Loaded) -> Self {
        Self { incarnation: incarnation.0, epoch: epoch.0, version, value }
    }
}

impl Failure {
    fn answer(self) -> Response<Bytes> {
        let (status, code, message) = match self {
            Self::TermOver => (StatusCode::SERVICE_UNAVAILABLE, "term_over", "the term of this node is over"),
            Self::NotLoaded => (StatusCode::SERVICE_UNAVAILABLE, "not_loaded", "the storage did not return its value"),
            Self::Overtaken => (StatusCode::SERVICE_UNAVAILABLE, "overtaken", "the write arrived too late"),
            Self::Unknown => (StatusCode::GATEWAY_TIMEOUT, "unknown", "the storage may have done the write"),
        };
        error(status, code, message)
    }
}

impl Handler for Serving {
    async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        let value = request.uri().query().and_then(|query| query.parse().ok());
        let Self::Leader(leading) = self else {
            return error(StatusCode::CONFLICT, "wrong_role", "another node leads");
        };
        let reply = match (request.method(), value) {
            (&Method::GET, None) => leading.read().await,
            (&Method::POST, Some(value)) => leading.write(value).await,
            (_, _) => return error(StatusCode::BAD_REQUEST, "bad_request", "accepted: GET, or POST with ?VALUE"),
        };
        reply.map_or_else(Failure::answer, |reply| json(StatusCode::OK, &reply))
    }
}

impl Leading {
    async fn read(&self) -> Result<Reply, Failure> {
        let remembered = *self.memory();
        let loaded = match remembered {
            Some(memory) => memory.loaded,
            None => {
                let _turn = self.turn.lock().await;
                self.load().await?
            }
        };
        Ok(Reply::by(self.check()?, loaded))
    }

    async fn write(&self, value: u64) -> Result<Reply, Failure> {
        let _turn = self.turn.lock().await;
        let before = self.load().await?;
        // Remember this first: if the client hangs up, this future is dropped before the result is known.
        *self.memory() = Some(Memory { loaded: before, is_unsure: true });
        let fence = self.check()?;
        match self.ask(Method::POST, &storage::store_path(fence, before.load, value)).await {
            Some((StatusCode::OK, _)) => {
                let loaded = Loaded { version: before.version + 1, value: Some(value), ..before };
                *self.memory() = Some(Memory { loaded, is_unsure: false });
                Ok(Reply::by(fence, loaded))
            }
            Some((StatusCode::GONE, _)) => Err(Failure::TermOver),
            Some((StatusCode::CONFLICT, _)) => Err(Failure::Overtaken),
            Some(_) | None => Err(Failure::Unknown),
        }
    }

    /// Loads the state of the storage, unless it is known. From the first load on, the storage refuses earlier terms.
    async fn load(&self) -> Result<Loaded, Failure> {
        let remembered = *self.memory();
        if let Some(memory) = remembered.filter(|memory| !memory.is_unsure) {
            return Ok(memory.loaded);
        }
        let fence = self.check()?;
        let loaded = match self.ask(Method::GET, &storage::load_path(fence)).await {
            Some((StatusCode::OK, body)) => serde_json::from_slice(&body).map_err(|_| Failure::NotLoaded)?,
            Some((StatusCode::GONE, _)) => return Err(Failure::TermOver),
            Some(_) | None => return Err(Failure::NotLoaded),
        };
        *self.memory() = Some(Memory { loaded, is_unsure: false });
        Ok(loaded)
    }

    async fn ask(&self, method: Method, path: &str) -> Option<(StatusCode, Bytes)> {
        let Register { client, clock, storage, patience } = &self.register;
        let request =
            Request::builder().method(method).uri(path).body(Bytes::new()).expect("a path of numbers is valid");
        let answer = client.send(storage, request, clock.now() + *patience).await.ok()?;
        Some((answer.status(), answer.into_body()))
    }

    fn check(&self) -> Result<Fence, Failure> {
        self.term.check().map_err(|_| Failure::TermOver)
    }

    fn memory(&self) -> MutexGuard<'_, Option<Memory>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
