//! The invariants of the queue.

use super::{Doubt, Queue};
use crate::Violation;
use crate::election::Will;
use crate::floor::Floor;
use crate::step::Standing;

impl Queue {
    /// Every invariant that the state alone can show.
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

    /// Whether a retry is scheduled.
    fn is_delayed(&self) -> bool {
        self.backoff.deadline().is_some() || self.sweep_backoff.deadline().is_some()
    }

    /// Nothing is asked, nothing scheduled: then this node is where it should be.
    fn check_quiet(&self, standing: &Standing, will: Will, floor: &Floor) -> Result<(), Violation> {
        if self.doubt != Doubt::Sure || self.look || self.relist_at.is_none() {
            return Err(Violation::Stuck);
        }
        if self.own.len() > 1 {
            return Err(Violation::SpareCandidate);
        }
        match (will, self.lowest()) {
            (Will::Withdraw | Will::Keep, None) => return Ok(()),
            (Will::Withdraw, Some(_)) | (Will::Stand, None) => return Err(Violation::Stuck),
            (Will::Stand | Will::Keep, Some(_)) => {}
        }
        let predecessor = self.view.as_ref().and_then(|view| view.predecessor);
        let target = predecessor.or(self.lowest());
        if self.watch.as_ref().map(|watch| watch.candidate) != target {
            return Err(Violation::WrongWatch);
        }
        let waits_for_record = floor.record(standing).is_none();
        if predecessor.is_none() && will == Will::Stand && self.term.is_none() && !waits_for_record {
            return Err(Violation::Stuck);
        }
        Ok(())
    }
}
