//! What all servers of the store know of this session.
//!
//! The server to which a client is connected tells the others only every half tick whom it has heard. A write that is committed
//! proves that the session lives; until when, they count from the last contact that they were told of. Where heartbeats are
//! regular the margin covers the difference. It does not where the answer to one was late, or the process had paused: then a
//! server that is cut off right after the next heartbeat takes what it has heard with it.

use super::QueueTiming;
use crate::election::Context;
use crate::names::{Moment, Named, Names};
use crate::{Config, Time, Timer};

/// Answered requests of the present link, while this node stands first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Contacts {
    /// Of which the others may not know yet, in order, without gaps.
    recent: [Option<Contact>; KEPT],
    /// Until when the session lives by the newest of which they surely knew when the last write was sent.
    told: Option<Time>,
}

/// In half a tick there are no more heartbeats of a node.
const KEPT: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Contact {
    /// When the others surely know of it.
    known: Time,
    /// Until when the session lives by it.
    lives: Time,
}

impl Contacts {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// A request that was sent at `sent` is answered. Of several in a heartbeat's time the first counts.
    pub(super) fn answered(&mut self, context: &Context<'_>, timing: QueueTiming, sent: Time) {
        let Context { now, standing, config } = *context;
        let lives = sent + QueueTiming::lifetime(config, standing.timeout);
        let spacing = Config::heartbeat(standing.timeout) / 2;
        let is_new = self.recent.iter().flatten().last().is_none_or(|last| last.lives + spacing <= lives);
        if let Some(free) = self.recent.iter_mut().find(|kept| kept.is_none()).filter(|_| is_new) {
            *free = Some(Contact { known: now + timing.told_within(config, standing.timeout), lives });
        }
    }

    /// A write is sent: if it is committed, the others knew of whatever was answered half a tick before.
    pub(super) fn ripen(&mut self, now: Time) {
        let is_ripe = |contact: &&Contact| contact.known <= now;
        let ripe = self.recent.iter().flatten().take_while(is_ripe).count();
        self.told = self.recent[..ripe].iter().flatten().last().map(|contact| contact.lives).or(self.told);
        self.recent[..ripe].fill(None);
        self.recent.rotate_left(ripe);
    }

    /// Until when the last write, sent at `sent` and committed, proves the session. On a link that is new, or on which nothing
    /// had to be asked, the client's own pings are what the others know of.
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

impl Named for Contacts {
    fn names(&mut self, names: &mut dyn Names) {
        for contact in self.recent.iter_mut().flatten() {
            names.time(Moment::Deadline(Timer::Validity), &mut contact.known);
            names.time(Moment::Deadline(Timer::Validity), &mut contact.lives);
        }
        if let Some(told) = &mut self.told {
            names.time(Moment::Deadline(Timer::Validity), told);
        }
    }
}
