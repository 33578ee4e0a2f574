//! Moving average of times.

use core::time::Duration;
use std::sync::atomic::{AtomicU64, Ordering};

/// Part of the average that a new time makes up: an eighth.
const WEIGHT: u64 = 8;

/// Average of the recent times. A race between two notes loses one of them, which does no harm.
#[derive(Debug, Default)]
pub(in crate::search) struct Usual(AtomicU64);

impl Usual {
    pub(in crate::search) fn note(&self, time: Duration) {
        let new = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1);
        let next = match self.0.load(Ordering::Relaxed) {
            0 => new,
            known => known - known / WEIGHT + new / WEIGHT,
        };
        self.0.store(next.max(1), Ordering::Relaxed);
    }

    /// The average; `None` before the first time.
    pub(in crate::search) fn time(&self) -> Option<Duration> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            nanos => Some(Duration::from_nanos(nanos)),
        }
    }

    /// Makes the average a little shorter.
    pub(in crate::search) fn fade(&self) {
        let known = self.0.load(Ordering::Relaxed);
        self.0.store(known - known / 1024, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_recent_times() {
        let usual = Usual::default();
        assert_eq!(usual.time(), None);
        usual.note(Duration::from_millis(8));
        assert_eq!(usual.time(), Some(Duration::from_millis(8)));
        (0..200).for_each(|_| usual.note(Duration::from_millis(2)));
        let time = usual.time().expect("times were noted");
        assert!(time.abs_diff(Duration::from_millis(2)) < Duration::from_micros(10), "{time:?}");
        (0..5000).for_each(|_| usual.fade());
        assert!(usual.time().expect("times were noted") < Duration::from_micros(100));
    }
}
