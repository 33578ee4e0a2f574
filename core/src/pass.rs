//! Tools that a machine gets while it advances: the time, the session, ids for its operations, and a sink for its
//! actions.

use alloc::vec::Vec;
use core::time::Duration;

use crate::mutant::Mutant;
use crate::rename::{Rename, Renamer, TimeKind};
use crate::store::Request;
use crate::{Action, Config, Link, OpId, Session, Sink, Slot, Time, Timer};

/// Gives out operation ids. All machines of a node share one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Issuer {
    pub(crate) link: Link,
    pub(crate) next: u32,
}

impl Issuer {
    /// Begins a new generation: the connection is new or lost.
    pub(crate) fn relink(&mut self) {
        self.link = Link(self.link.0.wrapping_add(1));
    }

    fn issue(&mut self, slot: Slot) -> OpId {
        self.next = self.next.wrapping_add(1);
        OpId { link: self.link, slot, sequence: self.next }
    }
}

/// The session in which a node believes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Standing {
    pub(crate) session: Session,
    pub(crate) timeout: Duration,
    pub(crate) entropy: u64,
    pub(crate) connected: bool,
}

impl Standing {
    /// Time that an answer may take, before a read is repeated and a write counts as unknown.
    pub(crate) fn patience(&self) -> Duration {
        self.timeout / 3
    }

    /// 64 random bits of this connection. The same purpose always gets the same bits.
    pub(crate) fn random(&self, purpose: u64) -> u64 {
        // SplitMix64 (Steele, Lea, Flood 2014).
        let mut z = self.entropy.wrapping_add(purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// `duration`, longer by up to an eighth, so that nodes do not act in step.
    pub(crate) fn jittered(&self, duration: Duration, purpose: u64) -> Duration {
        let share = u32::try_from(self.random(purpose) % 128).unwrap_or(0);
        duration.saturating_add(duration / 1024 * share)
    }
}

/// An operation whose answer is awaited.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pending<Kind> {
    pub(crate) id: OpId,
    pub(crate) kind: Kind,
    pub(crate) sent: Time,
    pub(crate) deadline: Time,
    /// True if a notice came meanwhile, so that the answer may be out of date.
    pub(crate) dirty: bool,
}

impl<Kind> Pending<Kind> {
    /// True if it is this operation, and its answer would still count.
    pub(crate) fn awaits(&self, now: Time, id: OpId) -> bool {
        self.id == id && now < self.deadline
    }
}

/// Takes the operation out of its slot if this is its answer.
pub(crate) fn take<Kind>(slot: &mut Option<Pending<Kind>>, id: OpId) -> Option<Pending<Kind>> {
    slot.take_if(|pending| pending.id == id || Mutant::StaleAnswerAccepted.lives() && pending.id.slot == id.slot)
}

/// Time at which everything is read again although nothing happened, since watches get lost in the field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Relist(Option<Time>);

impl Relist {
    pub(crate) fn schedule(&mut self, now: Time, standing: &Standing, config: &Config) {
        self.0 = Some(now + standing.jittered(config.relist, 3));
    }

    pub(crate) fn cancel(&mut self) {
        self.0 = None;
    }

    /// True if it is due; the next one is then scheduled.
    pub(crate) fn is_due(&mut self, now: Time, standing: Option<&Standing>, config: &Config) -> bool {
        let Some(standing) = standing.filter(|_| self.0.is_some_and(|at| at <= now)) else { return false };
        self.schedule(now, standing, config);
        true
    }

    pub(crate) fn is_scheduled(&self) -> bool {
        self.0.is_some()
    }
}

/// Delay before the next try after a failure. It doubles, from a tenth of a second to five seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Backoff {
    failures: u8,
    until: Option<Time>,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(100);
    const LIMIT: Duration = Duration::from_secs(5);

    pub(crate) fn fail(&mut self, now: Time) {
        let delay = Self::FIRST.saturating_mul(1 << self.failures.min(6)).min(Self::LIMIT);
        self.failures = self.failures.saturating_add(1).min(7);
        self.until = Some(now + delay);
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// True if the next try has to wait. Forgets a delay that is over.
    pub(crate) fn holds(&mut self, now: Time) -> bool {
        if self.until.is_some_and(|until| until <= now) {
            self.until = None;
        }
        self.until.is_some()
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        self.until
    }
}

/// One pass over the machines.
#[derive(Debug)]
pub(crate) struct Pass<'a, S> {
    pub(crate) now: Time,
    pub(crate) standing: Option<Standing>,
    pub(crate) issuer: &'a mut Issuer,
    pub(crate) out: &'a mut S,
}

impl<S: Sink> Pass<'_, S> {
    /// The session, while it is connected. Nothing is sent otherwise.
    pub(crate) fn connected(&self) -> Option<Standing> {
        self.standing.filter(|standing| standing.connected)
    }

    /// Sends a request, and returns the pending operation.
    pub(crate) fn send<Kind>(
        &mut self,
        standing: &Standing,
        slot: Slot,
        kind: Kind,
        request: Request,
    ) -> Pending<Kind> {
        let id = self.issuer.issue(slot);
        self.out.push(Action::Store { id, request });
        Pending { id, kind, sent: self.now, deadline: self.now + standing.patience(), dirty: false }
    }
}

/// Soonest of several deadlines. If two are equal, the one that was considered first.
#[derive(Debug, Default)]
pub(crate) struct Soonest {
    pub(crate) deadline: Option<(Time, Timer)>,
}

impl Soonest {
    pub(crate) fn consider(&mut self, at: Time, timer: Timer) {
        if self.deadline.is_none_or(|(soonest, _)| at < soonest) {
            self.deadline = Some((at, timer));
        }
    }

    /// Considers the deadline of a pending answer.
    pub(crate) fn answer<Kind>(&mut self, pending: Option<&Pending<Kind>>) {
        if let Some(pending) = pending {
            self.consider(pending.deadline, Timer::Answer);
        }
    }

    /// Considers the next time at which everything is read again.
    pub(crate) fn relist(&mut self, relist: &Relist) {
        if let Some(at) = relist.0 {
            self.consider(at, Timer::Relist);
        }
    }

    /// Considers the end of a delay.
    pub(crate) fn retry(&mut self, backoff: &Backoff) {
        if let Some(at) = backoff.deadline() {
            self.consider(at, Timer::Retry);
        }
    }
}

impl Rename for Relist {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        if let Some(at) = &mut self.0 {
            renamer.time(TimeKind::Deadline(Timer::Relist), at);
        }
    }
}

impl Rename for Backoff {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        if let Some(until) = &mut self.until {
            renamer.time(TimeKind::Deadline(Timer::Retry), until);
        }
    }
}

/// Number of earlier sessions that are remembered.
const REMEMBERED: usize = 4;

/// Remembers an earlier session. The oldest one is dropped, since it is long over.
pub(crate) fn remember<T>(former: &mut Vec<T>, latest: T) {
    if former.len() == REMEMBERED {
        former.remove(0);
    }
    former.push(latest);
}
