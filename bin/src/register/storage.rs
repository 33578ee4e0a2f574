//! Storage of the register's value, outside the cluster and guarded by a watermark.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use rolecall::{BoxFuture, Clock, Epoch, Fence, Incarnation, Net, Stale, Watermark};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use rolecall::http::{Front, HandlerSlot, Hosts, Server, ServerLimits, error, json};

/// Storage that refuses requests from terms older than the newest it has seen, and counts its writes. Clones are handles to
/// the same storage.
#[derive(Clone, Debug, Default)]
pub struct Storage(Arc<Mutex<Contents>>);

#[derive(Debug, Default)]
struct Contents {
    registers: BTreeMap<Incarnation, Stored>,
    /// Number of writes that arrived too late for their terms.
    late_writes: u64,
}

/// Register of one incarnation of the coordination store.
#[derive(Clone, Copy, Debug, Default)]
struct Stored {
    watermark: Watermark,
    /// The last term to load, and the number of its loads.
    loads: Option<(Fence, u64)>,
    version: u64,
    value: Option<u64>,
}

/// State of the register, as a leader loads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// Number of loads by the leader in its term, this one included. The leader's writes carry this number; a write from
    /// before the last load is refused.
    pub load: u64,
    /// Number of writes so far.
    pub version: u64,
    /// Value of the last write.
    pub value: Option<u64>,
}

/// Reason why a storage refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The fence of the request is not the newest.
    #[error(transparent)]
    Stale(#[from] Stale),
    /// The leader loaded the value again after it sent this write.
    #[error("the leader loaded the value again after it sent this write")]
    Overtaken,
}

impl Storage {
    /// Makes an empty storage.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers requests at `address` (`host:port`) until the server is dropped.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub async fn serve(
        &self,
        net: &dyn Net,
        clock: Arc<dyn Clock>,
        address: &str,
        limits: ServerLimits,
    ) -> io::Result<Server> {
        Server::bind(net, clock, address, HandlerSlot::default(), Some(Arc::new(self.clone())), Hosts::any(), limits)
            .await
    }

    /// Returns the state to the leader of the term `fence`. From now on, older terms are shut out, and so are writes that
    /// this leader sent before and that have not arrived yet.
    ///
    /// # Errors
    /// If the term is not the newest.
    pub fn load(&self, fence: Fence) -> Result<Loaded, Stale> {
        let mut contents = self.lock();
        let register = contents.registers.entry(fence.incarnation).or_default();
        register.watermark.admit(fence)?;
        let load = register.loads.filter(|(term, _)| *term == fence).map_or(0, |(_, loads)| loads) + 1;
        register.loads = Some((fence, load));
        Ok(Loaded { load, version: register.version, value: register.value })
    }

    /// Writes a value and raises the version by one.
    ///
    /// # Errors
    /// If the term is not the newest, or its leader has loaded again since.
    pub fn store(&self, fence: Fence, load: u64, value: u64) -> Result<(), Refusal> {
        let mut contents = self.lock();
        let register = contents.registers.entry(fence.incarnation).or_default();
        if let Err(stale) = register.watermark.admit(fence) {
            contents.late_writes += 1;
            return Err(stale.into());
        }
        if register.loads.is_some_and(|(term, loads)| term == fence && loads != load) {
            return Err(Refusal::Overtaken);
        }
        (register.version, register.value) = (register.version + 1, Some(value));
        Ok(())
    }

    /// Number of writes that arrived too late for their terms and were refused.
    #[must_use]
    pub fn late_writes(&self) -> u64 {
        self.lock().late_writes
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The path of a request says everything that the storage needs.
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
    fn an_earlier_term_is_refused_once_a_later_one_has_loaded_the_value() {
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
    fn a_write_that_a_leader_sent_before_it_loaded_again_is_refused() {
        let storage = Storage::new();
        assert_eq!(storage.load(fence(7)).map(|loaded| loaded.load), Ok(1));
        assert_eq!(storage.load(fence(7)).map(|loaded| loaded.load), Ok(2));
        assert_eq!(storage.store(fence(7), 1, 10), Err(Refusal::Overtaken));
        assert_eq!(storage.store(fence(7), 2, 11), Ok(()));
        assert_eq!(storage.load(fence(7)), Ok(Loaded { load: 3, version: 1, value: Some(11) }));
    }
}
