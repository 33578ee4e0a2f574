//! Where work is done: on the thread that serves connections, if it is shorter than a hand-off, and else on a thread for long work.

use core::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::task::JoinError;

use super::query::Query;
use super::usual::Usual;

/// Longest work that may keep a thread that also serves others. On a busy machine, a hand-off to another thread and back takes as
/// long.
const SHORT: Duration = Duration::from_micros(700);

/// Measurements of one kind of work, by which its time is estimated.
#[derive(Debug, Default)]
pub(super) struct Effort {
    /// Usual use of the processor for a thousand units.
    per_thousand: Usual,
}

impl Effort {
    /// Does work of this many units; `None` if they are not known, and the work is taken to be long.
    ///
    /// # Errors
    /// If the work panics, or the runtime is shutting down.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        units: Option<u64>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        let (done, took) = match units {
            Some(units) if self.is_short(units) => measured(work),
            Some(_) | None => tokio::task::spawn_blocking(|| measured(work)).await?,
        };
        if let Some(units) = units {
            self.note(units, took);
        }
        Ok(done)
    }

    fn is_short(&self, units: u64) -> bool {
        let per_thousand = self.per_thousand.time();
        per_thousand.is_some_and(|each| each.saturating_mul(clamp(units)) / 1000 <= SHORT)
    }

    fn note(&self, units: u64, took: Duration) {
        self.per_thousand.note(took.saturating_mul(1000) / clamp(units));
    }
}

/// Number of times as long as by a plain word that it takes to find a document by `query`.
pub(super) fn times(query: &Query) -> u64 {
    // The positions of a phrase are read, too.
    if query.leaves.iter().any(|leaf| leaf.parts().count() > 1) { 8 } else { 1 }
}

fn clamp(units: u64) -> u32 {
    u32::try_from(units.max(1)).unwrap_or(u32::MAX)
}

/// Does `work`, and returns for how long this thread had the processor. Time in which others had it says nothing of the work.
fn measured<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = processor_time();
    let done = work();
    (done, processor_time().saturating_sub(begun))
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or_default(), time.tv_nsec.try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    async fn thread_of(effort: &Effort, units: Option<u64>) -> thread::ThreadId {
        effort.run(units, || thread::current().id()).await.expect("it does not panic")
    }

    #[tokio::test]
    async fn short_work_is_done_where_it_arrives_and_long_work_elsewhere() {
        let (effort, here) = (Effort::default(), thread::current().id());
        assert_ne!(thread_of(&effort, Some(1)).await, here, "nothing is known of such work yet");
        (0..1000).for_each(|_| effort.note(1000, SHORT / 2));
        assert_eq!(thread_of(&effort, Some(1000)).await, here);
        (0..1000).for_each(|_| effort.note(1000, SHORT / 2));
        assert_ne!(thread_of(&effort, Some(3000)).await, here);
        assert_ne!(thread_of(&effort, Some(u64::MAX)).await, here);
        assert_ne!(thread_of(&effort, None).await, here);
    }

    #[tokio::test]
    async fn a_panic_in_long_work_is_an_error() {
        let effort = Effort::default();
        assert!(effort.run(None, || panic!("as an index that is damaged")).await.is_err_and(|error| error.is_panic()));
    }
}
