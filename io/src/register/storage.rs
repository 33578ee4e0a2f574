//! Where the value is kept: outside the cluster, behind a watermark.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use rolecall_core::{Epoch, Fence, Incarnation};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::http::{Front, Server, ServerLimits, Slot, error, json};
use crate::{BoxFuture, Clock, Net, Stale, Watermark};

/// A storage that does nothing for older terms than the newest it has heard of. It lives as long as any of its clones.
#[derive(Clone, Debug, Default)]
pub struct Storage(Arc<Mutex<Shelves>>);

#[derive(Debug, Default)]
struct Shelves {
    of: BTreeMap<Incarnation, Shelf>,
    /// Writes that came too late for their terms.
    late_writes: u64,
}

/// What belongs to one life of the coordination store.
#[derive(Clone, Copy, Debug, Default)]
struct Shelf {
    watermark: Watermark,
    record: Option<Record>,
}

/// A write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The term of the leader that sent it.
    pub fence: Fence,
    /// Its number among the writes of that term.
    pub sequence: u64,
    /// What is written.
    pub value: u64,
}

/// Why a storage did not do what it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// For the token of who asked.
    #[error(transparent)]
    Stale(#[from] Stale),
    /// A later write of the same term was done before.
    #[error("a later write of the same term was done before this one")]
    Overtaken,
}

impl Storage {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers at `address`, `host:port`, until the server is dropped.
    ///
    /// # Errors
    /// The address can't be listened on.
    pub async fn serve(
        &self,
        net: &dyn Net,
        clock: Arc<dyn Clock>,
        address: &str,
        limits: ServerLimits,
    ) -> io::Result<Server> {
        Server::bind(net, clock, address, Slot::default(), Some(Arc::new(self.clone())), limits).await
    }

    /// The last write, for the leader of the term `fence`; older terms are shut out from now on.
    ///
    /// # Errors
    /// The term is not the newest.
    pub fn load(&self, fence: Fence) -> Result<Option<Record>, Stale> {
        let mut shelves = self.lock();
        let shelf = shelves.of.entry(fence.incarnation).or_default();
        shelf.watermark.admit(fence)?;
        Ok(shelf.record)
    }

    /// Does a write.
    ///
    /// # Errors
    /// Its term is not the newest, or a later write of the same term came first.
    pub fn store(&self, record: Record) -> Result<(), Refusal> {
        let mut shelves = self.lock();
        let shelf = shelves.of.entry(record.fence.incarnation).or_default();
        if let Err(stale) = shelf.watermark.admit(record.fence) {
            shelves.late_writes += 1;
            return Err(stale.into());
        }
        let is_later = |last: Record| last.fence == record.fence && last.sequence >= record.sequence;
        if shelf.record.is_some_and(is_later) {
            return Err(Refusal::Overtaken);
        }
        shelf.record = Some(record);
        Ok(())
    }

    /// How many writes came too late for their terms, and were refused.
    #[must_use]
    pub fn late_writes(&self) -> u64 {
        self.lock().late_writes
    }

    fn lock(&self) -> MutexGuard<'_, Shelves> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Everything that is said to a storage stands in the path.
impl Front for Storage {
    fn answer<'a>(&'a self, head: &'a Request<()>) -> BoxFuture<'a, Option<Response<Bytes>>> {
        let fence = |incarnation, epoch| Fence { incarnation: Incarnation(incarnation), epoch: Epoch(epoch) };
        let (verb, numbers) = words(head.uri().path());
        let answer = match (head.method(), verb, numbers.as_deref()) {
            (&Method::GET, "load", Some([incarnation, epoch])) => self
                .load(fence(*incarnation, *epoch))
                .map_or_else(|stale| refused(&stale.into()), |record| json(StatusCode::OK, &record)),
            (&Method::POST, "store", Some([incarnation, epoch, sequence, value])) => {
                let record = Record { fence: fence(*incarnation, *epoch), sequence: *sequence, value: *value };
                self.store(record).map_or_else(|refusal| refused(&refusal), |()| json(StatusCode::OK, &record))
            }
            _ => error(StatusCode::BAD_REQUEST, "bad_request", "accepted: GET /load/…, POST /store/…"),
        };
        Box::pin(async { Some(answer) })
    }
}

pub(super) fn load_path(fence: Fence) -> String {
    format!("/load/{}/{}", fence.incarnation.0, fence.epoch.0)
}

pub(super) fn store_path(Record { fence, sequence, value }: &Record) -> String {
    format!("/store/{}/{}/{sequence}/{value}", fence.incarnation.0, fence.epoch.0)
}

fn words(path: &str) -> (&str, Option<Vec<u64>>) {
    let mut words = path.trim_start_matches('/').split('/');
    (words.next().unwrap_or_default(), words.map(|word| word.parse().ok()).collect())
}

fn refused(refusal: &Refusal) -> Response<Bytes> {
    error(StatusCode::CONFLICT, "refused", &refusal.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(epoch: u64, sequence: u64, value: u64) -> Record {
        Record { fence: Fence { incarnation: Incarnation(1), epoch: Epoch(epoch) }, sequence, value }
    }

    #[test]
    fn once_a_later_term_has_loaded_the_value_nothing_is_done_for_an_earlier_one() {
        let storage = Storage::new();
        assert_eq!(storage.load(record(7, 0, 0).fence), Ok(None));
        assert_eq!(storage.store(record(7, 1, 10)), Ok(()));
        assert_eq!(storage.load(record(9, 0, 0).fence), Ok(Some(record(7, 1, 10))));

        assert!(matches!(storage.store(record(7, 2, 11)), Err(Refusal::Stale(Stale::Older { .. }))));
        assert!(storage.load(record(7, 0, 0).fence).is_err());
        assert_eq!(storage.late_writes(), 1);
        assert_eq!(storage.load(record(9, 0, 0).fence), Ok(Some(record(7, 1, 10))));
    }

    #[test]
    fn a_write_that_was_overtaken_within_its_term_is_not_done() {
        let storage = Storage::new();
        assert_eq!(storage.store(record(7, 2, 11)), Ok(()));
        assert_eq!(storage.store(record(7, 1, 10)), Err(Refusal::Overtaken));
        assert_eq!(storage.store(record(7, 2, 11)), Err(Refusal::Overtaken), "nor twice");
        assert_eq!(storage.store(record(9, 1, 12)), Ok(()), "each term counts from one");
    }
}
