//! The store's clock, by which leases end.

use core::time::Duration;

use crate::Time;

/// Clock that a server's wall clock drives, but that never goes back, and never on by more than a limit between two calls.
///
/// A step of the wall clock so shortens a lease by the limit at most, and a step back prolongs it by no more than the time
/// between two calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Clock {
    now: Time,
    /// Wall clock at the last call.
    wall: Option<Time>,
}

impl Clock {
    pub(super) const fn now(&self) -> Time {
        self.now
    }

    pub(super) fn advance(&mut self, wall: Time, limit: Duration) {
        let passed = self.wall.map_or(Duration::ZERO, |before| wall.since(before));
        self.now = self.now + passed.min(limit);
        self.wall = Some(wall);
    }
}
