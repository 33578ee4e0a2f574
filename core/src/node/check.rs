//! The invariants of a node that its state alone can show.

use super::{Node, Stop};
use crate::membership::Membership;
use crate::registry::{Interest, Registry};
use crate::{Role, Violation};

impl Node {
    /// Checks every invariant of this node and its machines.
    ///
    /// # Errors
    /// The first promise that does not hold.
    pub fn check(&self) -> Result<(), Violation> {
        if self.stop == Stop::Over {
            return Ok(());
        }
        self.election.check(self.standing.as_ref(), self.will(), &self.floor)?;
        let connected = self.standing.is_some_and(|standing| standing.connected);
        let settings_stuck = connected && self.settings.is_stuck(&self.config, self.term().is_some());
        let wishes_stuck = connected && self.wishes.is_stuck();
        if settings_stuck || wishes_stuck || self.floor.is_stuck(connected) {
            return Err(Violation::Stuck);
        }
        if self.services.serving().role() == Role::Leader && !self.membership.workers.is_absent() {
            return Err(Violation::RegistryDisagrees);
        }
        if connected { self.check_registries() } else { Ok(()) }
    }

    /// Checks the registries: a quiet entry says what this node does, and a quiet mirror is followed as closely as it
    /// has to be.
    fn check_registries(&self) -> Result<(), Violation> {
        let (workers, coordinators) = self.wanted_entries();
        let entry_lags = |one: &Membership, wanted| one.is_quiet() && !one.agrees(wanted);
        if entry_lags(&self.membership.workers, workers) || entry_lags(&self.membership.coordinators, coordinators) {
            return Err(Violation::RegistryDisagrees);
        }
        let mirror_lags = |one: &Registry, interest| one.is_quiet() && !one.agrees(interest);
        if mirror_lags(&self.registry.workers, self.interest())
            || mirror_lags(&self.registry.coordinators, Interest::Watch)
        {
            return Err(Violation::Stuck);
        }
        Ok(())
    }
}
