//! A register guarded by the epoch: an application whose every mistake about leadership its clients can prove.
//!
//! ```text
//!  clients ── write, read ──► leader ── load, store, each with its fence ──► storage: refuses older fences
//!     └─ each operation: begun, done or refused or never heard of ─► History ─► is there an order that explains it?
//! ```
//!
//! The leader of a term loads the value from the storage when it is first asked, which shows the storage its fence. It answers
//! reads from memory, right after [`Term::check`]. A write goes through to the storage with the fence that the check has just
//! returned, and only once the storage has done it the leader remembers it and says so.
//!
//! Why this is linearizable if the promises hold:
//! - Writes take effect in the storage, one after the other. Once it was shown the fence of a term it does nothing for an older
//!   one (P14), so from the moment at which a leader has loaded the value, nobody but this leader changes it.
//! - A read takes effect when the term is checked. No later term has begun by then (P1), so no later leader has loaded the value
//!   and changed it, and what this leader remembers is what the storage holds, but for a write of its own that nobody was told
//!   to be done.
//! - A write that the leader knows nothing of any more (no answer, a client that hung up) may still take effect, until the next
//!   leader has loaded the value: its client was not told that it is done, so it may come at any time. It never takes effect
//!   after a later write of the same term, for which each write carries a number.
//!
//! And if one of them does not hold, somebody sees it: a leader that answers after its term gives the value from before a write
//! that was done since, and a late write that is let in undoes one, or is itself lost though it was said to be done. So the
//! history of all clients judges the promises without a look at any clock or term.
//!
//! Terms of two lives of the coordination store do not compare, so each life has a register of its own, empty at first.

mod caller;
mod history;
mod linear;
mod storage;

use core::error::Error;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use rolecall_core::{Fence, Role};
use serde::{Deserialize, Serialize};

pub use self::caller::{Answer, Caller};
pub use self::history::{Asked, Heard, History, Operation, Ticket};
pub use self::linear::{NotLinearizable, Wrong, check};
pub use self::storage::{Record, Refusal, Storage};
use crate::http::{Client, error, json};
use crate::{Clock, Handler, RoleService, Term};

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

impl RoleService for Register {
    type Handler = Serving;

    async fn serve(&self, _role: Role, term: Term) -> Result<Serving, Box<dyn Error + Send + Sync>> {
        Ok(Serving { register: self.clone(), term, memory: Mutex::default(), turn: tokio::sync::Mutex::default() })
    }
}

/// One run of the application.
#[derive(Debug)]
pub struct Serving {
    register: Register,
    term: Term,
    /// What the storage holds, once it was loaded in this term.
    memory: Mutex<Option<Memory>>,
    /// Who speaks with the storage.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Clone, Copy, Debug)]
struct Memory {
    value: Option<u64>,
    /// The number of the last write of this term, whatever came of it.
    sequence: u64,
}

/// What a leader answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) incarnation: u64,
    pub(crate) epoch: u64,
    pub(crate) value: Option<u64>,
}

/// Why a leader did not do what it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// Its term is over, and nothing was done.
    TermOver,
    /// The storage does not tell what it holds, and nothing was done.
    NotLoaded,
    /// The storage may have done it.
    Unknown,
}

impl Told {
    fn by(Fence { incarnation, epoch }: Fence, value: Option<u64>) -> Self {
        Self { incarnation: incarnation.0, epoch: epoch.0, value }
    }
}

impl Trouble {
    fn answer(self) -> Response<Bytes> {
        let (status, code, message) = match self {
            Self::TermOver => (StatusCode::SERVICE_UNAVAILABLE, "term_over", "the term of this node is over"),
            Self::NotLoaded => (StatusCode::SERVICE_UNAVAILABLE, "not_loaded", "the storage does not tell its value"),
            Self::Unknown => (StatusCode::GATEWAY_TIMEOUT, "unknown", "the storage may have done it"),
        };
        error(status, code, message)
    }
}

impl Handler for Serving {
    async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        let value = request.uri().query().and_then(|query| query.parse().ok());
        let told = match (self.term.role(), request.method(), value) {
            (Role::Leader, &Method::GET, None) => self.read().await,
            (Role::Leader, &Method::POST, Some(value)) => self.write(value).await,
            (Role::Leader, _, _) => {
                return error(StatusCode::BAD_REQUEST, "bad_request", "accepted: GET, or POST with ?VALUE");
            }
            (Role::Worker | Role::None, _, _) => {
                return error(StatusCode::CONFLICT, "wrong_role", "another node leads");
            }
        };
        told.map_or_else(Trouble::answer, |told| json(StatusCode::OK, &told))
    }
}

impl Serving {
    async fn read(&self) -> Result<Told, Trouble> {
        if self.memory().is_none() {
            let _turn = self.turn.lock().await;
            self.load().await?;
        }
        let value = self.memory().and_then(|memory| memory.value);
        Ok(Told::by(self.check()?, value))
    }

    async fn write(&self, value: u64) -> Result<Told, Trouble> {
        let _turn = self.turn.lock().await;
        let memory = self.load().await?;
        let sequence = memory.sequence + 1;
        // Before it is sent: whatever comes of it, no other write of this term has its number.
        *self.memory() = Some(Memory { sequence, ..memory });
        let fence = self.check()?;
        match self.ask(Method::POST, &storage::store_path(&Record { fence, sequence, value })).await {
            Some((StatusCode::OK, _)) => {
                *self.memory() = Some(Memory { value: Some(value), sequence });
                Ok(Told::by(fence, Some(value)))
            }
            Some((StatusCode::CONFLICT, _)) => Err(Trouble::TermOver),
            Some(_) | None => Err(Trouble::Unknown),
        }
    }

    /// What the storage holds. From the first time on it does nothing for earlier terms.
    async fn load(&self) -> Result<Memory, Trouble> {
        if let Some(memory) = *self.memory() {
            return Ok(memory);
        }
        let fence = self.check()?;
        let record = match self.ask(Method::GET, &storage::load_path(fence)).await {
            Some((StatusCode::OK, body)) => serde_json::from_slice::<Option<Record>>(&body).ok(),
            Some((StatusCode::CONFLICT, _)) => return Err(Trouble::TermOver),
            Some(_) | None => None,
        };
        let record = record.ok_or(Trouble::NotLoaded)?;
        // An earlier run of the same term may have written.
        let sequence = record.filter(|record| record.fence == fence).map_or(0, |record| record.sequence);
        let memory = Memory { value: record.map(|record| record.value), sequence };
        *self.memory() = Some(memory);
        Ok(memory)
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
