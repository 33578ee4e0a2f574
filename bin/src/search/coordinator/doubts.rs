//! Workers that have failed or been slow recently.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall::Time;

/// Time for which a doubtful worker is asked last, so that a worker that hangs delays one search and not every search.
const DOUBTED_FOR: Duration = Duration::from_secs(2);
/// Number of slow tasks in a row that make a worker doubtful. One is no reason: some answers are slower than most on every
/// worker.
const TOO_MANY_SLOW: u32 = 3;

/// Outcome of a task of one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// It was done before another worker had to be asked.
    InTime,
    /// Another worker was asked too: it took longer than is usual.
    Slow,
    /// It failed, or took so long that it may as well have.
    Failed,
}

/// Doubtful workers, which are asked after the others for a while.
#[derive(Debug, Default)]
pub(super) struct Doubts(Mutex<BTreeMap<Arc<str>, Doubt>>);

#[derive(Clone, Copy, Debug)]
struct Doubt {
    slow_in_a_row: u32,
    /// End of the time in which the worker is doubtful, if it is.
    until: Time,
}

impl Doubts {
    pub(super) fn judge(&self, worker: &Arc<str>, judgement: Judgement, now: Time) {
        let mut doubts = self.doubts();
        match judgement {
            Judgement::InTime => _ = doubts.remove(worker),
            Judgement::Slow => {
                let doubt = doubts.entry(Arc::clone(worker)).or_insert(Doubt { slow_in_a_row: 0, until: Time::ZERO });
                doubt.slow_in_a_row = doubt.slow_in_a_row.saturating_add(1);
                if doubt.slow_in_a_row >= TOO_MANY_SLOW {
                    doubt.until = now + DOUBTED_FOR;
                }
            }
            Judgement::Failed => {
                let doubt = Doubt { slow_in_a_row: TOO_MANY_SLOW, until: now + DOUBTED_FOR };
                doubts.insert(Arc::clone(worker), doubt);
            }
        }
    }

    pub(super) fn are_about(&self, worker: &str, now: Time) -> bool {
        self.doubts().get(worker).is_some_and(|doubt| now < doubt.until)
    }

    /// Forgets the workers that are gone.
    pub(super) fn keep_only(&self, workers: &[super::Worker]) {
        self.doubts().retain(|id, _| workers.iter().any(|worker| worker.id == *id));
    }

    fn doubts(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Doubt>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_makes_a_worker_doubtful_for_a_while() {
        let (doubts, worker, now) = (Doubts::default(), Arc::from("a"), Time::ZERO);
        doubts.judge(&worker, Judgement::Failed, now);
        assert!(doubts.are_about("a", now) && !doubts.are_about("b", now));
        assert!(!doubts.are_about("a", now + DOUBTED_FOR));
    }

    #[test]
    fn slow_tasks_in_a_row_make_a_worker_doubtful_and_the_next_one_does_again() {
        let (doubts, worker, now) = (Doubts::default(), Arc::from("a"), Time::ZERO);
        for judgement in [Judgement::Slow, Judgement::Slow, Judgement::InTime, Judgement::Slow, Judgement::Slow] {
            doubts.judge(&worker, judgement, now);
            assert!(!doubts.are_about("a", now), "one that is slow now and then is asked as ever");
        }
        doubts.judge(&worker, Judgement::Slow, now);
        assert!(doubts.are_about("a", now));
        let later = now + DOUBTED_FOR;
        assert!(!doubts.are_about("a", later), "it gets another chance");
        doubts.judge(&worker, Judgement::Slow, later);
        assert!(doubts.are_about("a", later));
        doubts.judge(&worker, Judgement::InTime, later);
        assert!(!doubts.are_about("a", later));
    }
}
