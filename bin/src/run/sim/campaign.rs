//! Many seeds, over all cores.

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

/// How often the bar moves.
const REFRESH: Duration = Duration::from_millis(100);

/// Runs every seed, or those up to the first in which something is not as promised; gives the sum of all.
pub(super) fn run(scenario: &Scenario, seeds: RangeInclusive<u64>) -> Result<Summary, Failure> {
    let count = seeds.end().saturating_sub(*seeds.start()).saturating_add(1);
    let cores = thread::available_parallelism().map_or(1, core::num::NonZero::get);
    let workers = cores.min(usize::try_from(count).unwrap_or(usize::MAX));
    let next = AtomicU64::new(0);
    let crowd = Crowd::before(workers);
    let begun = Instant::now();
    thread::scope(|scope| {
        let (done, runs) = channel();
        for _ in 0..workers {
            let (done, next, crowd, first) = (done.clone(), &next, &crowd, *seeds.start());
            scope.spawn(move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    if place >= count {
                        return;
                    }
                    let run = scenario.simulation(first + place).run();
                    crowd.look();
                    if run.finding.is_some() {
                        // The others end what they have begun.
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
        crowd.judge()?;
        Ok(summary)
    })
}

/// The threads of this process. One that a simulated host starts makes its run depend on chance that no seed gives.
struct Crowd {
    /// How many there may be; not known where the system does not tell.
    most: Option<usize>,
    seen: AtomicUsize,
}

impl Crowd {
    /// To be called before so many threads are started for the runs.
    fn before(workers: usize) -> Self {
        Self { most: threads().map(|others| others + workers), seen: AtomicUsize::new(0) }
    }

    fn look(&self) {
        self.seen.fetch_max(threads().unwrap_or(0), Ordering::Relaxed);
    }

    fn judge(&self) -> Result<(), Failure> {
        let seen = self.seen.load(Ordering::Relaxed);
        match self.most {
            Some(most) if seen > most => Err(Failure::Failed(format!(
                "a simulated node started a thread, so its seed does not repeat its run: {seen} threads where {most} are known"
            ))),
            Some(_) | None => Ok(()),
        }
    }
}

/// How many threads this process has, where the system is a Linux.
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
    fn a_thread_more_than_is_known_is_a_failure() {
        let crowd = Crowd { most: Some(3), seen: AtomicUsize::new(3) };
        assert!(crowd.judge().is_ok());

        crowd.seen.fetch_add(1, Ordering::Relaxed);
        let Err(Failure::Failed(told)) = crowd.judge() else { panic!("it is not noticed") };
        assert!(told.contains("4 threads where 3 are known"), "{told}");
    }

    #[test]
    fn what_is_looked_at_is_this_process() {
        let crowd = Crowd::before(0);
        let (stop, stopped) = channel::<()>();
        let another = thread::spawn(move || stopped.recv());
        crowd.look();
        drop(stop);

        assert!(another.join().is_ok_and(|ended| ended.is_err()));
        let seen = crowd.seen.into_inner();
        assert!(threads().is_none() || seen > 1, "{seen}");
    }
}
