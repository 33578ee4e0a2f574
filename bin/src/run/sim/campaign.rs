//! Runs many seeds on all cores.

use core::ops::RangeInclusive;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use rolecall_sim::Run;

use super::progress::Progress;
use super::scenario::Scenario;
use super::summary::Summary;
use crate::cli::Failure;

/// Interval at which the progress bar is redrawn.
const REFRESH: Duration = Duration::from_millis(100);

/// Runs every seed, or stops at the first in which a promise is broken, and returns the summary.
pub(super) fn run(scenario: &Scenario, seeds: RangeInclusive<u64>) -> Result<Summary, Failure> {
    let count = seeds.end().saturating_sub(*seeds.start()).saturating_add(1);
    let cores = thread::available_parallelism().map_or(1, core::num::NonZero::get);
    let workers = cores.min(usize::try_from(count).unwrap_or(usize::MAX));
    let next = AtomicU64::new(0);
    let thread_count = ThreadCount::before(workers);
    let begun = Instant::now();
    thread::scope(|scope| {
        let (done, runs) = channel();
        for _ in 0..workers {
            let (done, next, thread_count, first) = (done.clone(), &next, &thread_count, *seeds.start());
            scope.spawn(move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    if place >= count {
                        return;
                    }
                    let run = scenario.simulation(first + place).run();
                    thread_count.look();
                    if run.finding.is_some() {
                        // The other threads finish the runs that they have begun.
                        next.store(count, Ordering::Relaxed);
                    }
                    if done.send(run).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        let mut summary = Summary::new(scenario.nodes, workers);
        gather(&runs, &mut summary, Progress::new(count), begun);
        summary.took = begun.elapsed();
        thread_count.judge()?;
        Ok(summary)
    })
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
        let (stop, stopped) = channel::<()>();
        let another = thread::spawn(move || stopped.recv());
        thread_count.look();
        drop(stop);

        assert!(another.join().is_ok_and(|ended| ended.is_err()));
        let seen = thread_count.seen.into_inner();
        assert!(threads().is_none() || seen > 1, "{seen}");
    }
}
