//! Where the value is kept: outside the cluster, behind a watermark.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use rolecall_core::{Epoch, Fence, Incarnation};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use rolecall::http::{Front, Server, ServerLimits, Slot, error, json};
use rolecall::{BoxFuture, Clock, Net, Stale, Watermark};

/// A storage that does nothing for older terms than the newest it has heard of, and counts what it does. It lives as long as any of its clones.
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
    /// The term that has loaded last, and how often it has.
    loads: Option<(Fence, u64)>,
    version: u64,
    value: Option<u64>,
}

/// What a leader loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// How often the leader has loaded in its term. Its writes carry it, and those from before the last load are refused.
    pub load: u64,
    /// How many writes there were.
    pub version: u64,
    /// What was written last.
    pub value: Option<u64>,
}

/// Why a storage did not do what it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// For the token of who asked.
    #[error(transparent)]
    Stale(#[from] Stale),
    /// The same leader has loaded the value since.
    #[error("the same leader has loaded the value since it sent this")]
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

    /// What it holds, for the leader of the term `fence`. From now on older terms are shut out, and so is whatever this leader
    /// sent before and was not done yet.
    ///
    /// # Errors
    /// The term is not the newest.
    pub fn load(&self, fence: Fence) -> Result<Loaded, Stale> {
        let mut shelves = self.lock();
        let shelf = shelves.of.entry(fence.incarnation).or_default();
        shelf.watermark.admit(fence)?;
        let load = shelf.loads.filter(|(term, _)| *term == fence).map_or(0, |(_, loads)| loads) + 1;
        shelf.loads = Some((fence, load));
        Ok(Loaded { load, version: shelf.version, value: shelf.value })
    }

    /// Does a write, which raises the version by one.
    ///
    /// # Errors
    /// The term is not the newest, or its leader has loaded since.
    pub fn store(&self, fence: Fence, load: u64, value: u64) -> Result<(), Refusal> {
        let mut shelves = self.lock();
        let shelf = shelves.of.entry(fence.incarnation).or_default();
        if let Err(stale) = shelf.watermark.admit(fence) {
            shelves.late_writes += 1;
            return Err(stale.into());
        }
        if shelf.loads.is_some_and(|(term, loads)| term == fence && loads != load) {
            return Err(Refusal::Overtaken);
        }
        (shelf.version, shelf.value) = (shelf.version + 1, Some(value));
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
                .map_or_else(|stale| refused(&stale.into()), |loaded| json(StatusCode::OK, &loaded)),
            (&Method::POST, "store", Some([incarnation, epoch, load, value])) => self
                .store(fence(*incarnation, *epoch), *load, *value)
                .map_or_else(|refusal| refused(&refusal), |()| json(StatusCode::OK, value)),
            _ => error(StatusCode::BAD_REQUEST, "bad_request", "accepted: GET /load/…, POST /store/…"),
        };
        Box::pin(async { Some(answer) })
    }
}

pub(super) fn load_path(fence: Fence) -> String {
    format!("/load/{}/{}", fence.incarnation.0, fence.epoch.0)
}

pub(super) fn store_path(fence: Fence, load: u64, value: u64) -> String {
    format!("/store/{}/{}/{load}/{value}", fence.incarnation.0, fence.epoch.0)
}

fn words(path: &str) -> (&str, Option<Vec<u64>>) {
    let mut words = path.trim_start_matches('/').split('/');
    (words.next().unwrap_or_default(), words.map(|word| word.parse().ok()).collect())
}

fn refused(refusal: &Refusal) -> Response<Bytes> {
    let status = match refusal {
        Refusal::Stale(_) => StatusCode::GONE,
        Refusal::Overtaken => StatusCode::CONFLICT,
    };
    error(status, "refused", &refusal.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence(epoch: u64) -> Fence {
        Fence { incarnation: Incarnation(1), epoch: Epoch(epoch) }
    }

    #[test]
    fn once_a_later_term_has_loaded_the_value_nothing_is_done_for_an_earlier_one() {
        let storage = Storage::new();
        assert_eq!(storage.load(fence(7)), Ok(Loaded { load: 1, version: 0, value: None }));
        assert_eq!(storage.store(fence(7), 1, 10), Ok(()));
        assert_eq!(storage.load(fence(9)), Ok(Loaded { load: 1, version: 1, value: Some(10) }));

        assert!(matches!(storage.store(fence(7), 1, 11), Err(Refusal::Stale(Stale::Older { .. }))));
        assert!(storage.load(fence(7)).is_err());
        assert_eq!(storage.late_writes(), 1);
        assert_eq!(storage.store(fence(9), 1, 12), Ok(()));
        assert_eq!(storage.load(fence(9)), Ok(Loaded { load: 2, version: 2, value: Some(12) }));
    }

    #[test]
    fn what_a_leader_sent_before_it_loaded_again_is_not_done() {
        let storage = Storage::new();
        assert_eq!(storage.load(fence(7)).map(|loaded| loaded.load), Ok(1));
        assert_eq!(storage.load(fence(7)).map(|loaded| loaded.load), Ok(2));
        assert_eq!(storage.store(fence(7), 1, 10), Err(Refusal::Overtaken));
        assert_eq!(storage.store(fence(7), 2, 11), Ok(()));
        assert_eq!(storage.load(fence(7)), Ok(Loaded { load: 3, version: 1, value: Some(11) }));
    }
}
