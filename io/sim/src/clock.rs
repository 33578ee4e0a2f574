//! Simulated time: the true time, and the clocks of the hosts.

use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use rolecall_core::Time;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::freezer::Freezer;
use rolecall::Clock;

/// The time of day at which every simulation begins: 2026-01-01, in seconds since 1970.
pub(super) const EPOCH_S: u64 = 1_767_225_600;

/// The true time, which no host knows: the time since the simulation began.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrueTime(Arc<AtomicU64>);

impl TrueTime {
    /// Sets the true time; called between the steps of a simulation.
    pub(super) fn set(&self, elapsed: Duration) {
        self.0.store(nanos(elapsed), Ordering::Relaxed);
    }

    pub(super) fn now(&self) -> Time {
        // Within a step each host has a time of its own; a host that is being torn down has none.
        let within = Handle::try_current().ok().and_then(|_| turmoil::sim_elapsed());
        within.map_or_else(|| Time::from_nanos(self.0.load(Ordering::Relaxed)), |at| Time::from_nanos(nanos(at)))
    }
}

/// The clock of one host, which runs at a rate of its own. Clones are the same clock.
#[derive(Clone, Debug)]
pub(crate) struct SimClock {
    truth: TrueTime,
    freezer: Freezer,
    course: Arc<Mutex<Course>>,
    changed: watch::Sender<()>,
}

/// Course of a clock: it showed `shown` at the true time `since`, and runs too fast by `ppm` parts per million from
/// then on.
#[derive(Clone, Copy, Debug)]
struct Course {
    since: Time,
    shown: Time,
    ppm: i32,
}

const MILLION: i128 = 1_000_000;

impl SimClock {
    pub(super) fn new(truth: TrueTime, freezer: Freezer, start: Time) -> Self {
        let course = Course { since: Time::ZERO, shown: start, ppm: 0 };
        Self { truth, freezer, course: Arc::new(Mutex::new(course)), changed: watch::Sender::new(()) }
    }

    /// Lets the clock run too fast by `ppm` parts per million from now on.
    pub(super) fn set_rate(&self, ppm: i32) {
        let since = self.truth.now();
        let mut course = self.lock();
        *course = Course { since, shown: course.shown_at(since), ppm };
        drop(course);
        self.changed.send_replace(());
    }

    /// Time that the clock shows at a true time.
    pub(super) fn at(&self, truly: Time) -> Time {
        self.lock().shown_at(truly)
    }

    fn lock(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Course {
    fn shown_at(self, truly: Time) -> Time {
        let passed = i128::try_from(truly.since(self.since).as_nanos()).unwrap_or(i128::MAX / MILLION / 2);
        let shown = passed * (MILLION + i128::from(self.ppm)) / MILLION;
        self.shown + Duration::from_nanos(u64::try_from(shown).unwrap_or(0))
    }

    /// True time in which `left` passes on this clock.
    fn truly(self, left: Duration) -> Duration {
        let left = i128::try_from(left.as_nanos()).unwrap_or(i128::MAX / MILLION / 2);
        let rate = MILLION + i128::from(self.ppm);
        Duration::from_nanos(u64::try_from((left * MILLION + rate - 1) / rate).unwrap_or(u64::MAX))
    }
}

impl Clock for SimClock {
    fn now(&self) -> Time {
        self.at(self.truth.now())
    }

    fn sleep_until(&self, time: Time) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        let clock = self.clone();
        Box::pin(async move {
            let mut changed = clock.changed.subscribe();
            loop {
                clock.freezer.thawed().await;
                let left = time.since(clock.now());
                if left.is_zero() {
                    return;
                }
                let truly = clock.lock().truly(left);
                tokio::select! {
                    biased;
                    _ = changed.changed() => {}
                    () = tokio::time::sleep(truly) => {}
                }
            }
        })
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(EPOCH_S) + self.now().since(Time::ZERO)
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_keeps_its_rate_from_when_it_was_set() {
        let truth = TrueTime::default();
        let clock = SimClock::new(truth.clone(), Freezer::default(), Time::from_millis(5_000));
        truth.set(Duration::from_secs(100));
        assert_eq!(clock.now(), Time::from_millis(105_000));

        clock.set_rate(10_000);
        assert_eq!(clock.now(), Time::from_millis(105_000), "it does not jump");
        truth.set(Duration::from_secs(200));
        assert_eq!(clock.now(), Time::from_millis(206_000));

        clock.set_rate(-10_000);
        truth.set(Duration::from_secs(300));
        assert_eq!(clock.now(), Time::from_millis(305_000));
    }

    #[test]
    fn a_sleep_is_long_enough_whatever_the_rate() {
        for ppm in [-10_000, -1, 0, 1, 10_000] {
            let course = Course { since: Time::ZERO, shown: Time::ZERO, ppm };
            let left = Duration::from_nanos(1_234_567_891);
            let shown = course.shown_at(Time::ZERO + course.truly(left));
            assert!(shown >= Time::ZERO + left, "{ppm}: {shown:?}");
            assert!(shown <= Time::ZERO + left + Duration::from_nanos(2), "{ppm}: {shown:?}");
        }
    }
}
