//! Clocks: the seam to time.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::time::Duration;
use std::io;
use std::os::fd::OwnedFd;
use std::time::SystemTime;

use rolecall_core::Time;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};
use tokio::io::unix::AsyncFd;

/// Clock that counts suspended time and never goes back, with alarms on the same axis.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Present time, on the node's own axis. Must be cheap: the gate reads it before every leader-only act.
    fn now(&self) -> Time;

    /// Waits until [`now`](Self::now) has reached `time`, even if the machine sleeps meanwhile.
    fn sleep_until(&self, time: Time) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>>;

    /// Wall-clock time, for people only: nothing is decided by it.
    fn wall(&self) -> SystemTime;
}

/// Clock of the machine: `CLOCK_BOOTTIME`, which goes on while the machine is suspended, with alarms on the same clock.
///
/// tokio's timers run on `CLOCK_MONOTONIC`, which stands still during a suspend, so that a term would outlive its validity.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    /// Makes a handle. All handles read the one clock of the machine, so they agree.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let now = clock_gettime(ClockId::Boottime);
        Time::from_nanos(
            u64::try_from(now.tv_sec)
                .unwrap_or(0)
                .saturating_mul(1_000_000_000)
                .saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0)),
        )
    }

    fn sleep_until(&self, time: Time) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        let clock = *self;
        Box::pin(async move {
            // Most sleeps are dropped soon. Only the others are worth a descriptor.
            tokio::time::sleep(time.since(clock.now()).min(Duration::from_millis(20))).await;
            if time <= clock.now() {
                return;
            }
            // Without a descriptor (too many are open, or the call is missing), check the clock every second.
            if let Ok(timer) = alarm(time) {
                drop(timer.readable().await);
            }
            while let Some(left) = Some(time.since(clock.now())).filter(|left| !left.is_zero()) {
                tokio::time::sleep(left.min(Duration::from_secs(1))).await;
            }
        })
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Makes a descriptor that becomes readable at `time`.
#[allow(deprecated, reason = "`new` is unsound only for types that lie about their descriptor, and `OwnedFd` does not")]
fn alarm(time: Time) -> io::Result<AsyncFd<OwnedFd>> {
    let timer = timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
    let once = Itimerspec { it_interval: timespec(0), it_value: timespec(time.as_nanos()) };
    timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &once)?;
    AsyncFd::new(timer)
}

fn timespec(nanos: u64) -> Timespec {
    let seconds = i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX);
    let rest = i64::try_from(nanos % 1_000_000_000).unwrap_or(0);
    Timespec { tv_sec: seconds, tv_nsec: rest }
}

#[cfg(test)]
pub(crate) mod tests {
    use tokio::sync::watch;

    use super::*;

    /// Clock that a test moves forward.
    #[derive(Clone, Debug)]
    pub(crate) struct ManualClock(watch::Sender<Time>);

    impl ManualClock {
        pub(crate) fn new() -> Self {
            Self(watch::Sender::new(Time::from_millis(1_000)))
        }

        pub(crate) fn advance(&self, duration: Duration) {
            self.0.send_modify(|now| *now = *now + duration);
        }
    }

    impl Clock for ManualClock {
        fn now(&self) -> Time {
            *self.0.borrow()
        }

        fn sleep_until(&self, time: Time) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
            let clock = self.0.clone();
            Box::pin(async move { drop(clock.subscribe().wait_for(|now| *now >= time).await) })
        }

        fn wall(&self) -> SystemTime {
            SystemTime::UNIX_EPOCH + Duration::from_nanos(self.now().as_nanos())
        }
    }

    #[tokio::test]
    async fn a_sleep_does_not_end_before_its_time() {
        let clock = SystemClock::new();
        let time = clock.now() + Duration::from_millis(30);

        clock.sleep_until(time).await;

        assert!(clock.now() >= time);
        clock.sleep_until(Time::ZERO).await;
    }

    #[tokio::test]
    async fn a_sleep_for_ever_is_pending() {
        let clock = SystemClock::new();

        tokio::select! {
            () = clock.sleep_until(Time::MAX) => panic!("a sleep for ever has ended"),
            () = clock.sleep_until(clock.now() + Duration::from_millis(10)) => {}
        }
    }
}
