//! The invariants of an election by a lease.

use super::{Lease, View};
use crate::Violation;
use crate::election::Will;
use crate::floor::Floor;
use crate::pass::Standing;

impl Lease {
    /// Checks every invariant that the state alone can show.
    pub(crate) fn check(&self, standing: Option<&Standing>, will: Will, floor: &Floor) -> Result<(), Violation> {
        if self.term.is_some() && (standing.is_none() || self.leftover.is_some()) {
            return Err(Violation::LeaderWithoutCandidate);
        }
        let Some(standing) = standing.filter(|standing| standing.connected) else { return Ok(()) };
        let is_delayed = self.backoff.deadline().is_some() || self.release_backoff.deadline().is_some();
        if self.pending.is_some() || self.release.is_some() || is_delayed {
            return Ok(());
        }
        self.check_quiet(standing, will, floor)
    }

    /// Checks a quiet machine: if nothing is pending or scheduled, this node has to be where it should be.
    fn check_quiet(&self, standing: &Standing, will: Will, floor: &Floor) -> Result<(), Violation> {
        let to_give_up = self.leftover.is_some_and(|leftover| !leftover.served || will == Will::Withdraw);
        if !self.relist.is_scheduled() || to_give_up {
            return Err(Violation::Stuck);
        }
        if self.term.is_some() {
            return if self.look { Err(Violation::Stuck) } else { Ok(()) };
        }
        match will {
            Will::Keep | Will::Withdraw => return Ok(()),
            Will::Stand => {}
        }
        match self.view {
            _ if self.look => Err(Violation::Stuck),
            View::Unread | View::Stray(_) => Err(Violation::Stuck),
            View::Free if floor.record(standing).is_some() => Err(Violation::Stuck),
            View::Free => Ok(()),
            View::Taken if self.look_at.is_none() => Err(Violation::WrongWatch),
            View::Taken => Ok(()),
        }
    }
}
