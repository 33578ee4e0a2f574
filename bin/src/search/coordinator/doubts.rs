//! Workers that have failed or been slow recently.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall_core::Time;

/// Time for which a doubtful worker is asked last, so that a worker that hangs delays one search and not every search.
const DOUBTED_FOR: Duration = Duration::from_secs(2);

/// Doubtful workers, which are asked after the others for a while.
#[derive(Debug, Default)]
pub(super) struct Doubts(Mutex<BTreeMap<Arc<str>, Time>>);

impl Doubts {
    pub(super) fn doubt(&self, worker: &Arc<str>, now: Time) {
        self.doubts().insert(Arc::clone(worker), now + DOUBTED_FOR);
    }

    /// Removes the doubt about a worker that did a task in time.
    pub(super) fn clear(&self, worker: &str) {
        self.doubts().remove(worker);
    }

    pub(super) fn are_about(&self, worker: &str, now: Time) -> bool {
        let mut doubts = self.doubts();
        doubts.retain(|_, until| now < *until);
        doubts.contains_key(worker)
    }

    fn doubts(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Time>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
