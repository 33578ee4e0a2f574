//! Contacts: how much all servers of the store know of this session.
//!
//! A client's server tells the others only every half tick which clients it has heard. A committed write proves that
//! the session lives, but the others count its end from the last contact that they were told of. While heartbeats are
//! regular, the margin covers the difference. It does not if the answer to one was late or the process had paused: if
//! the server is cut off right after the next heartbeat, the others never hear of that heartbeat.

use super::QueueTiming;
use crate::election::Context;
use crate::rename::{Rename, Renamer, TimeKind};
use crate::{Config, Time, Timer};

/// Answered requests of the present link, while this node stands first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Contacts {
    /// Contacts of which the other servers may not know yet, in order, without gaps.
    recent: [Option<Contact>; KEPT],
    /// Life of the session by the newest contact of which the others surely knew when the last write was sent.
    told: Option<Time>,
}

/// Largest number of a node's heartbeats in half a tick.
const KEPT: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Contact {
    /// Time at which the others surely know of it.
    known: Time,
    /// Time until which it keeps the session alive.
    lives: Time,
}

impl Contacts {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Notes that a request sent at `sent` was answered. Of several within half a heartbeat interval the first counts.
    pub(super) fn answered(&mut self, context: &Context<'_>, timing: QueueTiming, sent: Time) {
        let Context { now, standing, config } = *context;
        let lives = sent + QueueTiming::lifetime(config, standing.timeout);
        let spacing = Config::heartbeat(standing.timeout) / 2;
        let is_new = self.recent.iter().flatten().last().is_none_or(|last| last.lives + spacing <= lives);
        if let Some(free) = self.recent.iter_mut().find(|kept| kept.is_none()).filter(|_| is_new) {
            *free = Some(Contact { known: now + timing.told_within(config, standing.timeout), lives });
        }
    }

    /// Notes that a write is sent: if it is committed, the others knew of every contact answered half a tick before.
    pub(super) fn ripen(&mut self, now: Time) {
        let is_ripe = |contact: &&Contact| contact.known <= now;
        let ripe = self.recent.iter().flatten().take_while(is_ripe).count();
        self.told = self.recent[..ripe].iter().flatten().last().map(|contact| contact.lives).or(self.told);
        self.recent[..ripe].fill(None);
        self.recent.rotate_left(ripe);
    }

    /// Time until which the last write, sent at `sent` and committed, proves the session. On a new link, or one on
    /// which nothing had to be asked, the others know of the client's own pings.
    pub(super) fn proved(&self, context: &Context<'_>, timing: QueueTiming, sent: Time) -> Option<Time> {
        let Context { standing, config, .. } = *context;
        let timeout = standing.timeout;
        let validity = config.validity(timeout)?;
        let told = self
            .told
            .unwrap_or_else(|| sent + QueueTiming::lifetime(config, timeout).saturating_sub(timing.silence(timeout)));
        Some(told.min(sent + validity))
    }
}

impl Rename for Contacts {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        for contact in self.recent.iter_mut().flatten() {
            renamer.time(TimeKind::Deadline(Timer::Validity), &mut contact.known);
            renamer.time(TimeKind::Deadline(Timer::Validity), &mut contact.lives);
        }
        if let Some(told) = &mut self.told {
            renamer.time(TimeKind::Deadline(Timer::Validity), told);
        }
    }
}
