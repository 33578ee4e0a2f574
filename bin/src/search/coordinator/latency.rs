//! Usual answer times, from which follows when a second worker is asked too.
//!
//! A task is hedged ("The Tail at Scale", Dean and Barroso 2013) once it has taken longer than nearly all recent tasks of its
//! kind: rarely enough to cost little, and soon enough that one slow worker does not slow down every search.

use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Share of the recent answers that came sooner than a task is hedged, in percent.
const PERCENTILE: usize = 95;
/// Number of recent answers of each kind that count.
const RECENT: usize = 128;
/// Number of answers below which nothing is usual yet.
const ENOUGH: usize = 16;

/// Bounds of the time after which a task is hedged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hedging {
    /// Shortest time: answers that come sooner are not worth a second task.
    pub at_least: Duration,
    /// Longest time, and the time before enough answers are known.
    pub at_most: Duration,
}

impl Default for Hedging {
    fn default() -> Self {
        Self { at_least: Duration::from_millis(20), at_most: Duration::from_millis(500) }
    }
}

/// Kinds of tasks, which take different times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskKind {
    Statistics,
    Search,
    Snippets,
}

/// Answer times of the workers, by the kind of task.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    statistics: Mutex<Recent>,
    search: Mutex<Recent>,
    snippets: Mutex<Recent>,
}

impl Latencies {
    /// Notes the time of an answer, or the time after which an answer was not waited for any longer.
    pub(super) fn note(&self, kind: TaskKind, took: Duration) {
        self.recent(kind).note(took);
    }

    /// Time after which a task of this kind is hedged.
    pub(super) fn hedge_after(&self, kind: TaskKind, Hedging { at_least, at_most }: Hedging) -> Duration {
        self.recent(kind).usual().unwrap_or(at_most).max(at_least).min(at_most)
    }

    fn recent(&self, kind: TaskKind) -> MutexGuard<'_, Recent> {
        let recent = match kind {
            TaskKind::Statistics => &self.statistics,
            TaskKind::Search => &self.search,
            TaskKind::Snippets => &self.snippets,
        };
        recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The newest answer times, the oldest first.
#[derive(Debug, Default)]
struct Recent(VecDeque<Duration>);

impl Recent {
    fn note(&mut self, took: Duration) {
        if self.0.len() == RECENT {
            self.0.pop_front();
        }
        self.0.push_back(took);
    }

    /// Time within which [`PERCENTILE`] percent of the answers came; `None` if there are too few.
    fn usual(&self) -> Option<Duration> {
        if self.0.len() < ENOUGH {
            return None;
        }
        let mut sorted: Vec<_> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get((sorted.len() * PERCENTILE).div_ceil(100) - 1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEDGING: Hedging = Hedging { at_least: ms(20), at_most: ms(500) };

    const fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    fn hedge_after(answers: impl IntoIterator<Item = u64>) -> Duration {
        let latencies = Latencies::default();
        answers.into_iter().for_each(|took| latencies.note(TaskKind::Search, ms(took)));
        latencies.hedge_after(TaskKind::Search, HEDGING)
    }

    #[test]
    fn it_is_the_95th_percentile_of_the_recent_answers() {
        assert_eq!(hedge_after(1..=100), ms(95));
        assert_eq!(hedge_after((1..=100).rev()), ms(95));
        assert_eq!(hedge_after([30; 95].into_iter().chain([400; 5])), ms(30));
        assert_eq!(hedge_after([30; 94].into_iter().chain([400; 6])), ms(400));
    }

    #[test]
    fn it_stays_within_its_bounds() {
        assert_eq!(hedge_after([1; 100]), HEDGING.at_least);
        assert_eq!(hedge_after([9_000; 100]), HEDGING.at_most);
        assert_eq!(hedge_after([30; ENOUGH - 1]), HEDGING.at_most, "few answers say nothing");
        assert_eq!(hedge_after([30; ENOUGH]), ms(30));
    }

    #[test]
    fn old_answers_do_not_count() {
        assert_eq!(hedge_after([400; 1_000].into_iter().chain([30; RECENT])), ms(30));
    }

    #[test]
    fn each_kind_of_task_has_its_own_times() {
        let latencies = Latencies::default();
        (0..ENOUGH).for_each(|_| latencies.note(TaskKind::Statistics, ms(40)));
        assert_eq!(latencies.hedge_after(TaskKind::Statistics, HEDGING), ms(40));
        assert_eq!(latencies.hedge_after(TaskKind::Search, HEDGING), HEDGING.at_most);
        assert_eq!(latencies.hedge_after(TaskKind::Snippets, HEDGING), HEDGING.at_most);
    }
}
