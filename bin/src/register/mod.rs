//! A register guarded by the epoch: an application whose every mistake about leadership its clients can prove.
//!
//! ```text
//!  clients ── write, read ──► leader ── load, store, each with its fence ──► storage: refuses older fences
//!     └─ each operation: begun, done or refused or never heard of ─► History ─► is there an order that explains it?
//! ```
//!
//! The register counts its writes, and tells the version with every answer. The leader of a term loads version and value from the
//! storage when it is first asked, which shows the storage its fence. It answers reads from memory, right after [`LeaderTerm::check`]. A
//! write goes through to the storage with the fence that the check has just returned. Only once the storage has done it the leader
//! remembers it and says so, with the next version: it counts by itself, for it is the only one who writes.
//!
//! Why this is linearizable if the promises hold:
//! - Writes take effect in the storage, one after the other. Once it was shown the fence of a term it does nothing for an older
//!   one (P14), so from the moment at which a leader has loaded, nobody but this leader writes.
//! - A read takes effect when the term is checked. No later term has begun by then (P1), so no later leader has loaded and written,
//!   and what this leader remembers is what the storage holds, but for a write of its own that nobody was told to be done.
//! - A write that the leader knows nothing of any more (no answer, a client that hung up) may still take effect: its client was not
//!   told that it is done, so it may come at any time. Before its next write the leader loads again, which shuts it out for good if
//!   it has not come by then, and so does the next leader.
//!
//! And if one of them does not hold, somebody sees it: a leader that answers after its term tells a version from before a write that
//! was done since; and a write that is let in late, or done twice, is counted by the storage but not by the leader, so that after
//! the next load one value has two versions. So the history of all clients judges the promises without a look at any clock or term.
//!
//! Terms of two lives of the coordination store do not compare, so each life has a register of its own, empty at first.

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
use rolecall_core::Fence;
use serde::{Deserialize, Serialize};

pub use self::caller::{Answer, Caller};
pub use self::history::{Call, Completion, History, Operation, Ticket};
pub use self::linear::{Anomaly, NotLinearizable, check};
pub use self::storage::{Loaded, Refusal, Storage};
use rolecall::http::{Application, Client, Handler, error, json};
use rolecall::{Assignment, Clock, LeaderTerm};

/// The application: what a node needs for it.
#[derive(Clone, Debug)]
pub struct Register {
    client: Client,
    clock: Arc<dyn Clock>,
    storage: Arc<str>,
    patience: Duration,
}

impl Register {
    /// The register in the [`Storage`] at the address `storage`, `host:port`, which is given up after `patience`. That may be
    /// longer than a term lasts: what comes late is refused.
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

/// One run of the application.
#[derive(Debug)]
pub enum Serving {
    /// It leads.
    Leader(Box<Leading>),
    /// Another does.
    Worker,
}

/// One term of the application.
#[derive(Debug)]
pub struct Leading {
    register: Register,
    term: LeaderTerm,
    /// What the storage holds, once it was loaded in this term.
    memory: Mutex<Option<Memory>>,
    /// Whose turn it is to speak with the storage.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Clone, Copy, Debug)]
struct Memory {
    loaded: Loaded,
    /// Whether a write was sent since of which nothing is known.
    is_unsure: bool,
}

/// What a leader answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) incarnation: u64,
    pub(crate) epoch: u64,
    pub(crate) version: u64,
    pub(crate) value: Option<u64>,
}

/// Why a leader did not do what it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// Its term is over, and nothing was done.
    TermOver,
    /// The storage does not tell what it holds, and nothing was done.
    NotLoaded,
    /// The leader asked the storage anew before its write had come there, and nothing was done.
    Overtaken,
    /// The storage may have done it.
    Unknown,
}

impl Told {
    fn by(Fence { incarnation, epoch }: Fence, Loaded { version, value, .. }: Loaded) -> Self {
        Self { incarnation: incarnation.0, epoch: epoch.0, version, value }
    }
}

impl Trouble {
    fn answer(self) -> Response<Bytes> {
        let (status, code, message) = match self {
            Self::TermOver => (StatusCode::SERVICE_UNAVAILABLE, "term_over", "the term of this node is over"),
            Self::NotLoaded => (StatusCode::SERVICE_UNAVAILABLE, "not_loaded", "the storage does not tell its value"),
            Self::Overtaken => (StatusCode::SERVICE_UNAVAILABLE, "overtaken", "the write came too late"),
            Self::Unknown => (StatusCode::GATEWAY_TIMEOUT, "unknown", "the storage may have done it"),
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
        let told = match (request.method(), value) {
            (&Method::GET, None) => leading.read().await,
            (&Method::POST, Some(value)) => leading.write(value).await,
            (_, _) => return error(StatusCode::BAD_REQUEST, "bad_request", "accepted: GET, or POST with ?VALUE"),
        };
        told.map_or_else(Trouble::answer, |told| json(StatusCode::OK, &told))
    }
}

impl Leading {
    async fn read(&self) -> Result<Told, Trouble> {
        let remembered = *self.memory();
        let loaded = match remembered {
            Some(memory) => memory.loaded,
            None => {
                let _turn = self.turn.lock().await;
                self.load().await?
            }
        };
        Ok(Told::by(self.check()?, loaded))
    }

    async fn write(&self, value: u64) -> Result<Told, Trouble> {
        let _turn = self.turn.lock().await;
        let before = self.load().await?;
        // Nobody may be left here to tell what came of it.
        *self.memory() = Some(Memory { loaded: before, is_unsure: true });
        let fence = self.check()?;
        match self.ask(Method::POST, &storage::store_path(fence, before.load, value)).await {
            Some((StatusCode::OK, _)) => {
                let loaded = Loaded { version: before.version + 1, value: Some(value), ..before };
                *self.memory() = Some(Memory { loaded, is_unsure: false });
                Ok(Told::by(fence, loaded))
            }
            Some((StatusCode::GONE, _)) => Err(Trouble::TermOver),
            Some((StatusCode::CONFLICT, _)) => Err(Trouble::Overtaken),
            Some(_) | None => Err(Trouble::Unknown),
        }
    }

    /// What the storage holds. From the first time on it does nothing for earlier terms.
    async fn load(&self) -> Result<Loaded, Trouble> {
        let remembered = *self.memory();
        if let Some(memory) = remembered.filter(|memory| !memory.is_unsure) {
            return Ok(memory.loaded);
        }
        let fence = self.check()?;
        let loaded = match self.ask(Method::GET, &storage::load_path(fence)).await {
            Some((StatusCode::OK, body)) => serde_json::from_slice(&body).map_err(|_| Trouble::NotLoaded)?,
            Some((StatusCode::GONE, _)) => return Err(Trouble::TermOver),
            Some(_) | None => return Err(Trouble::NotLoaded),
        };
        *self.memory() = Some(Memory { loaded, is_unsure: false });
        Ok(loaded)
    }

    async fn ask(&self, method: Method, path: &str) -> Option<(StatusCode, Bytes)> {
        let Register { client, clock, storage, patience } = &self.register;
        let request = Request::builder().method(method).uri(path).body(Bytes::new()).expect("a path of numbers");
        let answer = client.send(storage, request, clock.now() + *patience).await.ok()?;
        Some((answer.status(), answer.into_body()))
    }

    fn check(&self) -> Result<Fence, Trouble> {
        self.term.check().map_err(|_| Trouble::TermOver)
    }

    fn memory(&self) -> MutexGuard<'_, Option<Memory>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
