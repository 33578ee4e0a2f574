//! Rest of a program that ended by itself, before it is started again.

use core::time::Duration;

use rolecall::Time;

/// Rest after the first end.
const FIRST: Duration = Duration::from_secs(1);
/// Longest rest.
const LONGEST: Duration = Duration::from_secs(60);
/// A program that has run for this long is steady: its earlier ends are forgotten.
const STEADY: Duration = Duration::from_secs(60);

/// Rest of one program: 1 s after its first end, then twice as long each time, up to a minute; shortened at random by up to a half,
/// so that members whose programs die together do not come back together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Backoff {
    ends: u32,
    until: Time,
}

impl Backoff {
    /// Records an end of the program, after it has run for `ran`. `bits` are random.
    pub(super) fn ended(&mut self, now: Time, ran: Duration, bits: u64) {
        self.ends = if ran >= STEADY { 0 } else { self.ends.saturating_add(1) };
        let doublings = self.ends.saturating_sub(1).min(16);
        let longest = (FIRST * 2_u32.pow(doublings)).min(LONGEST);
        let half = u64::try_from(longest.as_nanos() / 2).unwrap_or(u64::MAX);
        self.until = now + Duration::from_nanos(half + bits % half);
    }

    /// End of the rest.
    pub(super) fn until(self) -> Time {
        self.until
    }

    /// True once the program may be started.
    pub(super) fn is_over(self, now: Time) -> bool {
        self.until <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_double_up_to_a_minute_and_a_steady_program_begins_anew() {
        let (mut backoff, start) = (Backoff::default(), Time::from_millis(5));
        let rest = |backoff: &mut Backoff, ran| {
            // The least of the random numbers, and the greatest.
            backoff.ended(start, ran, 0);
            let mut longest = *backoff;
            longest.ends = longest.ends.saturating_sub(1);
            longest.ended(start, ran, u64::MAX);
            let (least, most) = (backoff.until().since(start), longest.until().since(start));
            assert!(least < most && most < least * 2, "{least:?} {most:?}");
            least.as_millis()
        };
        let ran = Duration::from_millis(3);
        let rests: Vec<u128> = (0..8).map(|_| rest(&mut backoff, ran)).collect();
        assert_eq!(rests, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
        assert_eq!(rest(&mut backoff, STEADY), 500);
        assert_eq!(rest(&mut backoff, ran), 500);
        assert!(!backoff.is_over(start) && backoff.is_over(backoff.until()));
    }
}
