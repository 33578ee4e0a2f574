//! The canonical form of a lease in the store, and its names.

use core::time::Duration;

use super::clock::Clock;
use super::{LeaseMachine, Life};
use crate::Time;
use crate::rename::{ORIGIN, Rename, Renamer, RevisionKind};

impl LeaseMachine {
    /// This state with times counted from an origin; `life` becomes the first one. What has passed is now, since its age
    /// makes no difference, provided that nobody asks for a longer lease than the longest so far. `wall`: the server's wall
    /// clock, which becomes `axis`.
    pub(in crate::store) fn place(&mut self, life: Life, wall: Time, axis: Time) {
        let Clock { now, wall: last } = self.clock;
        // No call lets the clock go on by more than a quarter of the longest lease or session.
        let reach = self.longest.max(Duration::from_secs(60));
        self.clock = Clock { now: ORIGIN, wall: last.map(|last| place(last, wall, axis, reach)) };
        // Before anybody has asked for a lease, nobody knows how long the first one will be.
        self.born = place(self.born, now, ORIGIN, if self.longest.is_zero() { reach } else { self.longest });
        if let Some(granted) = &mut self.granted {
            granted.ends = place(granted.ends, now, ORIGIN, Duration::ZERO);
        }
        self.life = self.life.map(|known| if known == life { Life::FIRST } else { Life::BEFORE });
    }
}

/// Place of a time on an axis on which `now` is `origin`. What is longer past than `reach` is just as long past.
fn place(at: Time, now: Time, origin: Time, reach: Duration) -> Time {
    if at >= now { origin + at.since(now) } else { origin - now.since(at).min(reach) }
}

impl Rename for LeaseMachine {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        if let Some(incarnation) = &mut self.incarnation {
            renamer.incarnation(incarnation);
        }
        renamer.revision(RevisionKind::Epoch, &mut self.epoch.0);
        if let Some(granted) = &mut self.granted {
            granted.token.rename(renamer);
            renamer.session(&mut granted.owner);
            renamer.revision(RevisionKind::Epoch, &mut granted.epoch.0);
        }
    }
}
