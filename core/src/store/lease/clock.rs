//! The store's clock, by which leases end.

use core::time::Duration;

use crate::Time;
use crate::mutant::Mutant;

/// Clock that a server's wall clock drives, but that never goes back, and never on by more than a limit between two calls.
///
/// A step of the wall clock so shortens a lease by the limit at most, and a step back prolongs it by no more than the time
/// between two calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Clock {
    pub(super) now: Time,
    /// Wall clock at the last call.
    pub(super) wall: Option<Time>,
}

impl Clock {
    pub(super) const fn now(&self) -> Time {
        self.now
    }

    pub(super) fn advance(&mut self, wall: Time, limit: Duration) {
        let passed = self.wall.map_or(Duration::ZERO, |before| wall.since(before));
        let limit = if Mutant::StoreClockSteps.lives() { Duration::MAX } else { limit };
        self.now = self.now + passed.min(limit);
        self.wall = Some(wall);
    }
}
