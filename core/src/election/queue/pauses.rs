//! Pauses of this process, as a waiter notices them.
//!
//! A client that waits shows that its session lives by pings alone, and a process that is stopped sends none. A term that
//! is claimed right after a pause would count on pings that were never sent. A waiter therefore wakes eight times within a
//! session timeout, does nothing, and sees by its clock whether the wake was late.

use core::time::Duration;

use super::QueueTiming;
use crate::rename::{Rename, Renamer, TimeKind};
use crate::{Time, Timer};

/// Pauses since the present link began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Pauses {
    /// Next wake that shows whether this process runs.
    wake: Option<Time>,
    /// Time until which the pings that a pause kept back may be missing.
    doubt: Option<Time>,
}

impl Pauses {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Notes that this process runs now.
    pub(super) fn expire(&mut self, now: Time, timing: QueueTiming, timeout: Duration) {
        if self.wake.take_if(|at| *at <= now).is_some_and(|at| at + QueueTiming::lateness(timeout) < now) {
            self.doubt = Some(now + timing.silence(timeout));
        }
        self.doubt.take_if(|until| *until <= now);
    }

    /// Schedules the next wake, counted from now.
    pub(super) fn watch(&mut self, now: Time, timeout: Duration) {
        self.wake = Some(now + QueueTiming::wake_interval(timeout));
    }

    /// Stops to look for pauses.
    pub(super) fn rest(&mut self) {
        self.wake = None;
    }

    /// Notes that the session has been proved since the last pause.
    pub(super) fn proved(&mut self) {
        self.doubt = None;
    }

    /// True if a pause may have kept back the newest pings.
    pub(super) fn doubtful(&self) -> bool {
        self.doubt.is_some()
    }

    pub(super) fn watches(&self) -> bool {
        self.wake.is_some()
    }

    pub(super) fn deadlines(&self) -> impl Iterator<Item = Time> {
        self.wake.into_iter().chain(self.doubt)
    }
}

impl Rename for Pauses {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        // By how much a wake is late decides, so its time counts when it is over as well.
        if let Some(wake) = &mut self.wake {
            renamer.time(TimeKind::Past, wake);
        }
        if let Some(doubt) = &mut self.doubt {
            renamer.time(TimeKind::Deadline(Timer::Pause), doubt);
        }
    }
}
