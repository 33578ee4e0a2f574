//! A machine's clock, whose rate may change.

use crate::Time;

/// A clock that counts on from where it was when its rate last changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    truly: Time,
    shown: Time,
    /// Error of the rate, in parts per million; positive if it is too fast.
    ppm: i32,
}

const MILLION: i128 = 1_000_000;

impl Clock {
    /// An exact clock.
    pub(super) const fn exact() -> Self {
        Self { truly: Time::ZERO, shown: Time::ZERO, ppm: 0 }
    }

    /// Changes the rate at a true time.
    pub(super) fn set_rate(&mut self, truly: Time, ppm: i32) {
        *self = Self { truly, shown: self.shows(truly), ppm };
    }

    /// Time that it shows at a true time.
    pub(super) fn shows(&self, truly: Time) -> Time {
        let passed = i128::from(truly.as_nanos()) - i128::from(self.truly.as_nanos());
        Self::plus(self.shown, passed + passed * i128::from(self.ppm) / MILLION)
    }

    /// First true time at which it shows `at` or more.
    pub(super) fn true_time(&self, at: Time) -> Time {
        if at == Time::MAX {
            return at;
        }
        let shown = i128::from(at.as_nanos()) - i128::from(self.shown.as_nanos());
        let mut truly = Self::plus(self.truly, shown * MILLION / (MILLION + i128::from(self.ppm)) - 2);
        while self.shows(truly) < at {
            truly = Self::plus(truly, 1);
        }
        truly
    }

    fn plus(time: Time, nanos: i128) -> Time {
        Time::from_nanos(u64::try_from((i128::from(time.as_nanos()) + nanos).max(0)).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_reached_at_its_true_time_and_not_before() {
        for ppm in [-9_900, 0, 9_900] {
            let mut clock = Clock::exact();
            clock.set_rate(Time::from_millis(5_000), ppm);
            for millis in [5_001, 17_000, 600_000] {
                let at = Time::from_millis(millis);
                let truly = clock.true_time(at);
                assert!(clock.shows(truly) >= at);
                assert!(clock.shows(Time::from_nanos(truly.as_nanos() - 1)) < at);
            }
        }
    }

    #[test]
    fn a_clock_never_goes_back_when_its_rate_changes() {
        let mut clock = Clock::exact();
        let mut last = Time::ZERO;
        for (second, ppm) in [(10, 9_900), (20, -9_900), (30, 0), (40, 9_900)] {
            let truly = Time::from_millis(second * 1_000);
            assert!(clock.shows(truly) >= last);
            clock.set_rate(truly, ppm);
            last = clock.shows(truly);
        }
    }
}
