//! The invariants of the queue.

use super::{Doubt, Queue};
use crate::Violation;
use crate::election::Will;
use crate::floor::Floor;
use crate::pass::Standing;

impl Queue {
    /// Checks every invariant that the state alone can show.
    pub(crate) fn check(&self, standing: Option<&Standing>, will: Will, floor: &Floor) -> Result<(), Violation> {
        if self.term.is_some() {
            let first = self.view.as_ref().is_some_and(|view| view.predecessor.is_none());
            if self.own.is_empty() || !first || standing.is_none() {
                return Err(Violation::LeaderWithoutCandidate);
            }
        }
        let Some(standing) = standing.filter(|standing| standing.connected) else { return Ok(()) };
        if self.pending.is_some() || self.sweep.is_some() || self.is_delayed() {
            return Ok(());
        }
        self.check_quiet(standing, will, floor)
    }

    /// True if a retry is scheduled.
    fn is_delayed(&self) -> bool {
        [&self.backoff, &self.sweep_backoff, &self.absence].iter().any(|backoff| backoff.deadline().is_some())
    }

    /// Checks a quiet machine: if nothing is pending or scheduled, this node has to be where it should be.
    fn check_quiet(&self, standing: &Standing, will: Will, floor: &Floor) -> Result<(), Violation> {
        if self.doubt != Doubt::Sure || self.look || !self.relist.is_scheduled() {
            return Err(Violation::Stuck);
        }
        if self.own.len() > 1 {
            return Err(Violation::SpareCandidate);
        }
        match (will, self.own.is_empty()) {
            (Will::Withdraw | Will::Keep, true) => return Ok(()),
            (Will::Withdraw, false) | (Will::Stand, true) => return Err(Violation::Stuck),
            (Will::Stand | Will::Keep, false) => {}
        }
        let predecessor = self.view.as_ref().and_then(|view| view.predecessor.as_ref());
        if !predecessor.map_or_else(|| self.watches_own(), |predecessor| self.watches(predecessor)) {
            return Err(Violation::WrongWatch);
        }
        let may_claim = || will == Will::Stand && floor.record(standing).is_some();
        if predecessor.is_none() && self.term.is_none() && may_claim() {
            return Err(Violation::Stuck);
        }
        Ok(())
    }
}
