//! The states that were found, known by their fingerprints.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Parts with a lock each, so that threads seldom wait for one another.
const PARTS: u64 = 64;

/// A set of fingerprints that threads share.
#[derive(Debug)]
pub(crate) struct Seen {
    parts: Vec<Mutex<HashSet<u64>>>,
    len: AtomicU64,
}

impl Default for Seen {
    fn default() -> Self {
        Self { parts: (0..PARTS).map(|_| Mutex::default()).collect(), len: AtomicU64::new(0) }
    }
}

impl Seen {
    /// Adds a fingerprint; false if it was there.
    pub(crate) fn insert(&self, print: u64) -> bool {
        let part = &self.parts[(print % PARTS) as usize];
        let is_new = part.lock().unwrap_or_else(PoisonError::into_inner).insert(print);
        self.len.fetch_add(u64::from(is_new), Ordering::Relaxed);
        is_new
    }

    /// Number of fingerprints.
    pub(crate) fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }
}
