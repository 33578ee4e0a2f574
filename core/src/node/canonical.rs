//! Renaming of a node's state.

use super::{Both, HoldOff, HoldOffPhase, Node, Shown, Stop};
use crate::names::{Canonical, Moment, Named, Names};
use crate::step::{Issuer, Pending};
use crate::{Time, Timer};

impl Node {
    /// This state with canonical names, as if everything began at `now`. States that differ in names only become equal.
    /// [`handle`](Self::handle) commutes with it.
    #[must_use]
    pub fn canonical(&self, now: Time) -> Self {
        let mut node = self.clone();
        let mut canonical = Canonical::new(now, self, &mut []);
        node.names(&mut canonical);
        node
    }
}

impl Named for Node {
    fn names(&mut self, names: &mut dyn Names) {
        let Self {
            config: _,
            issuer: Issuer { link, next },
            standing,
            former,
            election,
            floor,
            settings,
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
        names.issued(link, next);
        if let Some(standing) = standing {
            names.session(&mut standing.session);
            names.entropy(&mut standing.entropy);
        }
        former.iter_mut().for_each(|session| names.session(session));
        election.names(names);
        floor.names(names);
        settings.names(names);
        identity.names(names);
        duty.names(names);
        services.names(names);
        membership.names(names);
        registry.names(names);
        hold_off.names(names);
        match stop {
            Stop::Asked { limit } => names.time(Moment::Deadline(Timer::Shutdown), limit),
            Stop::No | Stop::Over => {}
        }
        fresh_start.names(names);
        shown.names(names);
    }
}

impl<T: Named> Named for Both<T> {
    fn names(&mut self, names: &mut dyn Names) {
        self.each().into_iter().for_each(|one| one.names(names));
    }
}

impl Named for HoldOff {
    fn names(&mut self, names: &mut dyn Names) {
        match &mut self.phase {
            HoldOffPhase::Until(until) => names.time(Moment::Deadline(Timer::HoldOff), until),
            HoldOffPhase::Over | HoldOffPhase::Resigning => {}
        }
    }
}

impl Named for Shown {
    fn names(&mut self, names: &mut dyn Names) {
        if let Some((fence, until)) = &mut self.gate {
            fence.names(names);
            names.time(Moment::Deadline(Timer::Validity), until);
        }
        self.leader.names(names);
    }
}

impl<Kind: Named> Named for Pending<Kind> {
    fn names(&mut self, names: &mut dyn Names) {
        names.operation(&mut self.id);
        self.kind.names(names);
        names.time(Moment::Past, &mut self.sent);
        names.time(Moment::Deadline(Timer::Answer), &mut self.deadline);
    }
}
