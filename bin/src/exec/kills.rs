//! Kills that are repeated until nothing is left, since one may miss a process that was just made.

use core::time::Duration;

use rolecall::Time;

/// Pause after the first kill.
const PAUSE: Duration = Duration::from_millis(2);
/// Longest pause.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// Time of the next kill, with the pause that follows it. Pauses double.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kills {
    pub(super) next: Time,
    pause: Duration,
}

impl Kills {
    /// The first kill is due at `now`.
    pub(super) fn from(now: Time) -> Self {
        Self { next: now, pause: PAUSE }
    }

    /// The kills that are left after one at `now`.
    #[must_use]
    pub(super) fn after(self, now: Time) -> Self {
        Self { next: now + self.pause, pause: (self.pause * 2).min(LONGEST_PAUSE) }
    }
}
