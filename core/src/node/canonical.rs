//! Renaming of a node's state.

use super::{Both, HoldOff, HoldOffPhase, Node, Shown, Stop};
use crate::pass::{Issuer, Pending};
use crate::rename::{Canonical, Rename, Renamer, TimeKind};
use crate::{Time, Timer};

impl Node {
    /// This state with canonical names, as if everything began at `now`. States that differ in names only become equal.
    /// [`handle`](Self::handle) commutes with it.
    #[must_use]
    pub fn canonical(&self, now: Time) -> Self {
        let mut node = self.clone();
        let mut canonical = Canonical::new(now, self, &mut []);
        node.rename(&mut canonical);
        node
    }
}

impl Rename for Node {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        let Self {
            config: _,
            issuer: Issuer { link, next },
            standing,
            former,
            election,
            floor,
            settings,
            wishes,
            identity,
            duty,
            services,
            membership,
            registry,
            hold_off,
            candidacy: _,
            stop,
            fresh_start,
            shown,
        } = self;
        renamer.issued(link, next);
        if let Some(standing) = standing {
            renamer.session(&mut standing.session);
            renamer.entropy(&mut standing.entropy);
        }
        former.iter_mut().for_each(|session| renamer.session(session));
        election.rename(renamer);
        floor.rename(renamer);
        settings.rename(renamer);
        wishes.rename(renamer);
        identity.rename(renamer);
        duty.rename(renamer);
        services.rename(renamer);
        membership.rename(renamer);
        registry.rename(renamer);
        hold_off.rename(renamer);
        match stop {
            Stop::Asked { limit } => renamer.time(TimeKind::Deadline(Timer::Shutdown), limit),
            Stop::No | Stop::Over => {}
        }
        fresh_start.rename(renamer);
        shown.rename(renamer);
    }
}

impl<T: Rename> Rename for Both<T> {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.each().into_iter().for_each(|one| one.rename(renamer));
    }
}

impl Rename for HoldOff {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match &mut self.phase {
            HoldOffPhase::Until(until) => renamer.time(TimeKind::Deadline(Timer::HoldOff), until),
            HoldOffPhase::Over | HoldOffPhase::Resigning => {}
        }
    }
}

impl Rename for Shown {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        if let Some((fence, until)) = &mut self.gate {
            fence.rename(renamer);
            renamer.time(TimeKind::Deadline(Timer::Validity), until);
        }
        self.leader.rename(renamer);
    }
}

impl<Kind: Rename> Rename for Pending<Kind> {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        renamer.operation(&mut self.id);
        self.kind.rename(renamer);
        renamer.time(TimeKind::Past, &mut self.sent);
        renamer.time(TimeKind::Deadline(Timer::Answer), &mut self.deadline);
    }
}
