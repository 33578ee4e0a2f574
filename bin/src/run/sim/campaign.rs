//! Many seeds, over all cores.

use core::ops::RangeInclusive;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use rolecall_io::sim::Run;

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
    let begun = Instant::now();
    thread::scope(|scope| {
        let (done, runs) = channel();
        for _ in 0..workers {
            let (done, next, first) = (done.clone(), &next, *seeds.start());
            scope.spawn(move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    if place >= count {
                        return;
                    }
                    let run = scenario.simulation(first + place).run();
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
        Ok(summary)
    })
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
