//! Election by a queue of candidates that live as long as their sessions. The smallest sequence leads; everyone else
//! watches only its direct predecessor.
//!
//! The recipe is ZooKeeper's ("Leader Election" in its recipes document), with lessons from the field: owners are
//! compared, a term is claimed by a write, only committed writes extend its validity, lost creates are looked for by
//! their guid, and there is never a second write while the first is uncertain.
//!
//! This file has the state and the effects of connections and sessions; `answer` those of answers and notices;
//! `advance` derives the next step; `contact` knows how much a committed write proves; `ownerless` keeps the candidates
//! without owners; `check` has the invariants.

mod advance;
mod answer;
mod candidate;
mod check;
mod contact;
mod ownerless;
mod rename;
mod timing;

pub use candidate::{Candidate, Guid};
pub use timing::QueueTiming;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use contact::Contacts;
use ownerless::Ownerless;

use super::Position;
use crate::mutant::Mutant;
use crate::pass::{Backoff, Pending, Relist, Soonest, Standing, remember};
use crate::{Config, Fence, Incarnation, OpId, Session, Time, Timer};

/// This node's standing in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Queue {
    timing: QueueTiming,
    /// Guid of this node's candidates in the current session.
    guid: Option<Guid>,
    /// Sequences of this session's own candidates that are known to exist, in order.
    own: Vec<i64>,
    /// Guids of earlier sessions, whose candidates are deleted if they are still found.
    former: Vec<Former>,
    /// Candidates that do not count, since no session owns them.
    ownerless: Ownerless,
    doubt: Doubt,
    /// True if the queue has to be listed (again) before anything new begins.
    look: bool,
    view: Option<View>,
    head: Head,
    /// The one watch that counts, on the predecessor or on the own candidate.
    watch: Option<Watch>,
    term: Option<Term>,
    pending: Option<Pending<Ask>>,
    sweep: Option<Pending<Candidate>>,
    beat: Option<Pending<Candidate>>,
    contacts: Contacts,
    backoff: Backoff,
    sweep_backoff: Backoff,
    /// Backoff while the store confirms candidates and then does not list them.
    absence: Backoff,
    relist: Relist,
}

/// A guid of an earlier session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Former {
    guid: Guid,
    /// Time at which that session is over even for a store that has just heard of it.
    until: Time,
}

/// Doubt about a write of unknown outcome, which may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Doubt {
    /// No doubt.
    #[default]
    Sure,
    /// A write may still happen; a sync has to be answered next.
    Unsure,
    /// The sync was answered; a listing sent after it has to be answered next.
    Synced,
}

/// The last listing, as far as this node needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct View {
    head: Option<Candidate>,
    /// The candidate right before the lowest own one.
    predecessor: Option<Candidate>,
    /// Candidates of this node's earlier sessions, in order.
    strays: Vec<Candidate>,
    /// True if candidates of another kind of client stand in the queue.
    mixed: bool,
    skipped: u32,
}

/// The first candidate of the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
enum Head {
    /// Not read since the last listing.
    #[default]
    Unread,
    /// Read.
    Known { candidate: Candidate, participant: Arc<str> },
    /// Gone before it was read, or not worth reading.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Watch {
    candidate: Candidate,
    id: OpId,
}

/// A term that this node holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Term {
    fence: Fence,
    until: Time,
    beat_at: Time,
}

/// Kinds of requests in the queue's slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Ask {
    Enter,
    Sync,
    /// `settles`: true if it was sent after a sync, so that it ends the doubt.
    List {
        settles: bool,
    },
    Inspect {
        candidate: Candidate,
        watch: bool,
    },
    Claim {
        candidate: Candidate,
        incarnation: Incarnation,
    },
}

impl Ask {
    /// True if it may still happen after nobody waits for it any more.
    fn is_write(&self) -> bool {
        match self {
            Self::Enter | Self::Claim { .. } => true,
            Self::Sync | Self::List { .. } | Self::Inspect { .. } => false,
        }
    }
}

impl Queue {
    pub(crate) fn new(timing: QueueTiming) -> Self {
        Self {
            timing,
            guid: None,
            own: Vec::new(),
            former: Vec::new(),
            ownerless: Ownerless::default(),
            doubt: Doubt::Sure,
            look: false,
            view: None,
            head: Head::Unread,
            watch: None,
            term: None,
            pending: None,
            sweep: None,
            beat: None,
            contacts: Contacts::default(),
            backoff: Backoff::default(),
            sweep_backoff: Backoff::default(),
            absence: Backoff::default(),
            relist: Relist::default(),
        }
    }

    /// Begins a session other than the one before.
    pub(crate) fn begin(&mut self, now: Time, standing: &Standing, config: &Config) {
        let random = u128::from(standing.random(1)) << 64 | u128::from(standing.random(2));
        self.guid = Some(Guid::ours(random));
        self.look = !self.former.is_empty();
        self.relist.schedule(now, standing, config);
    }

    /// Resumes the same session after a reconnect: everything is read again, and own candidates are kept.
    pub(crate) fn resume(&mut self, now: Time, standing: &Standing, config: &Config) {
        self.look = true;
        self.relist.schedule(now, standing, config);
    }

    /// Handles the loss of the connection: no pending request is sure to be answered, and no watch is certain.
    pub(crate) fn suspend(&mut self) {
        if self.pending.take().is_some_and(|pending| pending.kind.is_write()) {
            self.doubt = Doubt::Unsure;
        }
        if self.sweep.take().is_some() | self.beat.take().is_some() {
            self.doubt = Doubt::Unsure;
        }
        if self.doubt == Doubt::Synced {
            self.doubt = Doubt::Unsure;
        }
        self.watch = None;
        self.contacts.clear();
        self.head = Head::Unread;
        self.backoff.clear();
        self.sweep_backoff.clear();
        self.absence.clear();
        self.relist.cancel();
    }

    /// Handles the end of the session, or the loss of all knowledge about it: nothing of it is this node's any more.
    pub(crate) fn lose(&mut self, now: Time, timeout: Duration) {
        self.suspend();
        if let Some(guid) = self.guid.take().filter(|_| !Mutant::FormerNotSwept.lives()) {
            remember(&mut self.former, Former { guid, until: now + timeout.saturating_mul(2) });
        }
        self.own.clear();
        self.ownerless.clear();
        self.doubt = Doubt::Sure;
        self.look = false;
        self.view = None;
        self.term = None;
    }

    /// Gives up the term at once. The candidate stays, so everything is read again before the next claim.
    pub(crate) fn step_down(&mut self) {
        if self.term.take().is_some() {
            self.look_again();
            self.watch = None;
            if self.beat.take().is_some() {
                self.doubt = Doubt::Unsure;
            }
        }
    }

    /// Applies the passing of time: validity ends, and answers become overdue. Returns true if everything has to be
    /// read again.
    pub(crate) fn expire(&mut self, now: Time, standing: Option<&Standing>, config: &Config) -> bool {
        if self.term.as_ref().is_some_and(|term| term.until <= now) && !Mutant::TermOutlivesValidity.lives() {
            self.step_down();
        }
        self.former.retain(|former| former.until > now);
        self.backoff.holds(now);
        self.sweep_backoff.holds(now);
        self.absence.holds(now);
        if self.pending.as_ref().is_some_and(|pending| pending.deadline <= now)
            && self.pending.take().is_some_and(|pending| pending.kind.is_write())
            && !Mutant::TimedOutCreateRetried.lives()
        {
            self.doubt = Doubt::Unsure;
        }
        if self.sweep.as_ref().is_some_and(|pending| pending.deadline <= now) {
            self.sweep = None;
            self.doubt = Doubt::Unsure;
        }
        if self.beat.as_ref().is_some_and(|pending| pending.deadline <= now) {
            self.beat = None;
            self.doubt = Doubt::Unsure;
        }
        let relists = self.relist.is_due(now, standing, config);
        if relists {
            self.look_again();
        }
        relists
    }

    pub(crate) fn position(&self) -> Position {
        match (&self.term, &self.view) {
            (Some(term), _) => Position::Leading { fence: term.fence, until: term.until },
            (None, Some(View { predecessor: Some(_), .. })) if !self.own.is_empty() => Position::Waiting,
            (None, _) => Position::Unknown,
        }
    }

    /// Id of the first candidate, if another kind of client made it.
    pub(crate) fn foreign_head(&self) -> Option<&Arc<str>> {
        match &self.head {
            Head::Known { candidate, participant } if candidate.is_foreign() => Some(participant),
            Head::Known { .. } | Head::Unread | Head::Unknown => None,
        }
    }

    /// Notes a change of the coordinators: in a queue shared with another kind of client, its head may have changed
    /// too.
    pub(crate) fn coordinators_changed(&mut self) {
        if self.view.as_ref().is_some_and(|view| view.mixed) {
            self.look_again();
        }
    }

    /// Number of names in the queue that are not candidates, or candidates without owners.
    pub(crate) fn skipped(&self) -> u32 {
        let malformed = self.view.as_ref().map_or(0, |view| view.skipped);
        malformed.saturating_add(self.ownerless.count())
    }

    /// True if nothing of this node is left in the queue, for certain.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.own.is_empty()
            && self.doubt == Doubt::Sure
            && self.sweep.is_none()
            && self.beat.is_none()
            && !self.pending.as_ref().is_some_and(|pending| pending.kind.is_write())
    }

    pub(crate) fn awaits(&self, now: Time, id: OpId) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.awaits(now, id))
            || self.sweep.as_ref().is_some_and(|pending| pending.awaits(now, id))
            || self.beat.as_ref().is_some_and(|pending| pending.awaits(now, id))
    }

    /// True if it waits for this watch.
    pub(crate) fn relies_on(&self, id: OpId) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.id == id)
    }

    /// True if nothing keeps it from deleting unwanted candidates.
    pub(crate) fn may_sweep(&self) -> bool {
        self.sweep.is_none() && self.doubt == Doubt::Sure && self.sweep_backoff.deadline().is_none()
    }

    pub(crate) fn deadlines(&self, connected: bool, soonest: &mut Soonest) {
        soonest.answer(self.pending.as_ref());
        soonest.answer(self.sweep.as_ref());
        soonest.answer(self.beat.as_ref());
        if connected {
            soonest.retry(&self.backoff);
            soonest.retry(&self.sweep_backoff);
            soonest.retry(&self.absence);
        }
        if let Some(term) = &self.term {
            soonest.consider(term.until, Timer::Validity);
            if connected && self.may_beat() {
                soonest.consider(term.beat_at, Timer::Beat);
            }
        }
        if connected {
            soonest.relist(&self.relist);
        }
    }

    /// Marks all knowledge of the queue as out of date, a pending answer included.
    fn look_again(&mut self) {
        self.look = true;
        if let Some(pending) = &mut self.pending {
            pending.dirty = true;
        }
    }

    /// True if a heartbeat may be sent. It is a write, so no other write may be in doubt, and this link must have shown
    /// the candidate to be this node's.
    fn may_beat(&self) -> bool {
        self.beat.is_none() && self.doubt == Doubt::Sure && self.watches_own()
    }

    fn watches_own(&self) -> bool {
        self.lowest().is_some_and(|own| self.watches(&own))
    }

    fn watches(&self, candidate: &Candidate) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.candidate == *candidate)
    }

    /// The own candidate that counts: the lowest. Spare ones are deleted.
    fn lowest(&self) -> Option<Candidate> {
        self.own.first().map(|sequence| self.candidate(*sequence))
    }

    fn candidate(&self, sequence: i64) -> Candidate {
        Candidate { sequence, guid: self.guid }
    }

    fn strays_below(&self, own: Candidate) -> bool {
        self.view.as_ref().is_some_and(|view| view.strays.iter().any(|stray| *stray < own))
    }
}

/// Deliberate mistakes, for tests of a node's reaction to them.
#[cfg(test)]
impl Queue {
    pub(crate) fn forget_relist(&mut self) {
        self.relist.cancel();
    }

    pub(crate) fn forget_candidate(&mut self) {
        self.own.clear();
    }
}

/// True if `owner` is the session of `standing`.
fn owns(standing: &Standing, owner: Session) -> bool {
    standing.session == owner || Mutant::OwnerNotCompared.lives()
}
