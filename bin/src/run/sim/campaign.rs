//! Runs many seeds on all cores. Keeps only the sums of a run, however many seeds there are.

use core::ops::RangeInclusive;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

use rolecall_sim::Run;

use super::progress::Progress;
use super::scenario::Scenario;
use super::summary::Summary;
use crate::cli::Failure;
use crate::run::memory::Budget;

/// Interval at which the progress bar is redrawn.
const REFRESH: Duration = Duration::from_millis(100);

/// Result of a campaign.
pub(super) struct Campaign {
    /// The sum of all runs.
    pub(super) summary: Summary,
    /// True if the memory was full before the last seed.
    pub(super) is_cut_short: bool,
}

/// Runs every seed, or stops at the first in which a promise is broken, or when the memory is full.
pub(super) fn run(scenario: &Scenario, seeds: RangeInclusive<u64>, budget: Budget) -> Result<Campaign, Failure> {
    let count = seeds.end().saturating_sub(*seeds.start()).saturating_add(1);
    let cores = thread::available_parallelism().map_or(1, core::num::NonZero::get);
    let workers = cores.min(usize::try_from(count).unwrap_or(usize::MAX));
    let first = *seeds.start();
    let shared = Shared {
        scenario,
        first,
        count,
        budget,
        next: AtomicU64::new(0),
        is_cut_short: AtomicBool::new(false),
        thread_count: ThreadCount::before(workers),
    };
    let begun = Instant::now();
    let mut summary = Summary::new(scenario.nodes, scenario.election, workers);
    thread::scope(|scope| {
        let (done, runs) = sync_channel(workers);
        for _ in 0..workers {
            let (done, shared) = (done.clone(), &shared);
            scope.spawn(move || shared.work(&done));
        }
        drop(done);
        gather(&runs, &mut summary, Progress::new(count, budget), begun);
    });
    summary.took = begun.elapsed();
    shared.thread_count.judge()?;
    Ok(Campaign { summary, is_cut_short: shared.is_cut_short.into_inner() })
}

/// State that the threads of a campaign share.
struct Shared<'a> {
    scenario: &'a Scenario,
    first: u64,
    count: u64,
    budget: Budget,
    /// Place of the next seed, from 0.
    next: AtomicU64,
    is_cut_short: AtomicBool,
    thread_count: ThreadCount,
}

impl Shared<'_> {
    /// Runs one seed after the other, until none is left.
    fn work(&self, done: &SyncSender<Run>) {
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            if place >= self.count {
                return;
            }
            let run = self.scenario.simulation(self.first + place).run();
            self.thread_count.look();
            let is_full = self.budget.is_spent();
            if run.finding.is_some() || is_full {
                // The other threads finish the runs that they have begun.
                let next = self.next.swap(self.count, Ordering::Relaxed);
                self.is_cut_short.fetch_or(is_full && next < self.count, Ordering::Relaxed);
            }
            if done.send(run).is_err() {
                return;
            }
        }
    }
}

/// Count of this process's threads. If a simulated host starts a thread, its run depends on chance that no seed controls.
struct ThreadCount {
    /// Number of threads that are expected; `None` where the system does not tell.
    expected: Option<usize>,
    /// Largest number of threads seen.
    seen: AtomicUsize,
}

impl ThreadCount {
    /// Expects the present threads and `workers` more, which the caller starts next.
    fn before(workers: usize) -> Self {
        Self { expected: threads().map(|others| others + workers), seen: AtomicUsize::new(0) }
    }

    fn look(&self) {
        self.seen.fetch_max(threads().unwrap_or(0), Ordering::Relaxed);
    }

    fn judge(&self) -> Result<(), Failure> {
        let seen = self.seen.load(Ordering::Relaxed);
        match self.expected {
            Some(expected) if seen > expected => Err(Failure::Failed(format!(
                "a simulated node started a thread, so its seed does not repeat its run: expected {expected} threads, found {seen}"
            ))),
            Some(_) | None => Ok(()),
        }
    }
}

/// Number of threads of this process, on Linux.
fn threads() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

fn gather(runs: &Receiver<Run>, summary: &mut Summary, mut progress: Progress, begun: Instant) {
    loop {
        match runs.recv_timeout(REFRESH) {
            Ok(run) => summary.add(run),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        progress.show(summary, begun.elapsed());
    }
    progress.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unexpected_thread_is_a_failure() {
        let thread_count = ThreadCount { expected: Some(3), seen: AtomicUsize::new(3) };
        assert!(thread_count.judge().is_ok());

        thread_count.seen.fetch_add(1, Ordering::Relaxed);
        let Err(Failure::Failed(message)) = thread_count.judge() else { panic!("it is not noticed") };
        assert!(message.contains("expected 3 threads, found 4"), "{message}");
    }

    #[test]
    fn the_threads_of_this_process_are_counted() {
        let thread_count = ThreadCount::before(0);
        let (stop, stopped) = sync_channel::<()>(0);
        let another = thread::spawn(move || stopped.recv());
        thread_count.look();
        drop(stop);

        assert!(another.join().is_ok_and(|ended| ended.is_err()));
        let seen = thread_count.seen.into_inner();
        assert!(threads().is_none() || seen > 1, "{seen}");
    }
}
