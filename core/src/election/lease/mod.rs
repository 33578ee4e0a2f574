//! Election by a lease with a time to live. Whoever acquires it leads for as long as the renewals are confirmed;
//! everyone else rests until the lease may be over.
//!
//! The rules are those of Gray and Cheriton ("Leases", 1989), with lessons from the field: each attempt has a token of
//! its own, which the store compares; a renewal never brings back what is gone; validity counts from before the call of
//! the last confirmed write; an acquisition of unknown outcome is given back, not adopted; and the lease of a term is
//! given up only after its service has stopped.
//!
//! This file has the state and the effects of connections and sessions; `answer` those of answers and notices;
//! `advance` derives the next step; `check` has the invariants.

mod advance;
mod answer;
mod check;
mod rename;
mod timing;

pub use timing::LeaseTiming;

use alloc::vec::Vec;
use core::time::Duration;

use super::Position;
use crate::mutant::Mutant;
use crate::pass::{Backoff, Pending, Relist, Soonest, Standing, remember};
use crate::{Config, Fence, Incarnation, OpId, Time, Timer, Token};

/// This node's standing in an election by a lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lease {
    /// Number of attempts of this process so far, each of which had a token of its own.
    attempts: u32,
    view: View,
    /// True if the lease has to be read (again) before anything new begins.
    look: bool,
    /// Time at which a waiter reads the lease again, since it may be over.
    look_at: Option<Time>,
    watch: Option<OpId>,
    /// True if the watch has fired and nobody has looked since.
    given_up: bool,
    term: Option<Term>,
    /// Attempt of this session that is no term, but may hold the lease.
    leftover: Option<Leftover>,
    /// Attempts of earlier sessions that may hold the lease.
    former: Vec<Former>,
    pending: Option<Pending<Ask>>,
    release: Option<Pending<Token>>,
    beat: Option<Pending<Token>>,
    backoff: Backoff,
    release_backoff: Backoff,
    relist: Relist,
    /// Rank of this node among the members.
    rank: u32,
}

/// The lease as this node last read it, unless it holds it itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum View {
    /// Not read on this connection.
    #[default]
    Unread,
    /// Nobody held it.
    Free,
    /// Somebody held it, or nobody may yet.
    Taken,
    /// An attempt of an earlier session of this process held it, under this token. It served nothing.
    Stray(Token),
}

/// A term that this node holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Term {
    token: Token,
    fence: Fence,
    until: Time,
    beat_at: Time,
}

/// An attempt that may hold the lease without being a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Leftover {
    token: Token,
    /// True if it was a term. Its service may still stop, so its lease is given up only when this node withdraws, and
    /// ends by itself otherwise.
    served: bool,
}

/// An attempt of an earlier session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Former {
    leftover: Leftover,
    /// Time at which its lease is over even if its request was carried out late.
    until: Time,
}

/// Kinds of requests in the election's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Ask {
    Peek { watch: bool },
    Acquire { token: Token },
}

impl Lease {
    pub(crate) fn new() -> Self {
        Self {
            attempts: 0,
            view: View::Unread,
            look: false,
            look_at: None,
            watch: None,
            given_up: false,
            term: None,
            leftover: None,
            former: Vec::new(),
            pending: None,
            release: None,
            beat: None,
            backoff: Backoff::default(),
            release_backoff: Backoff::default(),
            relist: Relist::default(),
            rank: 0,
        }
    }

    /// Begins a session, or resumes it after a reconnect: the lease is read.
    pub(crate) fn begin(&mut self, now: Time, standing: &Standing, config: &Config) {
        self.look = true;
        self.relist.schedule(now, standing, config);
    }

    /// Handles the loss of the connection: no pending request is sure to be answered, and no watch is certain.
    pub(crate) fn suspend(&mut self) {
        self.abandon_attempt();
        self.release = None;
        self.beat = None;
        self.watch = None;
        self.given_up = false;
        self.view = View::Unread;
        self.look_at = None;
        self.backoff.clear();
        self.release_backoff.clear();
        self.relist.cancel();
    }

    /// Handles the end of the session, or the loss of all knowledge about it: nothing of it is this node's any more.
    pub(crate) fn lose(&mut self, now: Time, timeout: Duration) {
        self.suspend();
        self.step_down();
        if let Some(leftover) = self.leftover.take() {
            remember(&mut self.former, Former { leftover, until: now + timeout.saturating_mul(3) });
        }
        self.look = false;
    }

    /// Gives up the term at once. Its lease stays until it ends by itself, or until this node withdraws.
    pub(crate) fn step_down(&mut self) {
        if let Some(term) = self.term.take() {
            self.leftover = Some(Leftover { token: term.token, served: !Mutant::LeaseReleasedUnstopped.lives() });
            self.look_again();
            self.beat = None;
        }
    }

    /// Handles a lease that is gone: the store has it no more under the term's token.
    fn lost(&mut self) {
        self.step_down();
        self.leftover = None;
    }

    /// Applies the passing of time: validity ends, and answers become overdue. Returns true if everything has to be
    /// read again.
    pub(crate) fn expire(&mut self, now: Time, standing: Option<&Standing>, config: &Config) -> bool {
        if self.term.as_ref().is_some_and(|term| term.until <= now) && !Mutant::TermOutlivesValidity.lives() {
            self.step_down();
        }
        self.former.retain(|former| former.until > now);
        self.backoff.holds(now);
        self.release_backoff.holds(now);
        if self.pending.as_ref().is_some_and(|pending| pending.deadline <= now) {
            self.abandon_attempt();
        }
        self.release.take_if(|pending| pending.deadline <= now);
        self.beat.take_if(|pending| pending.deadline <= now);
        if self.look_at.take_if(|at| *at <= now).is_some() {
            self.look_again();
        }
        let relists = self.relist.is_due(now, standing, config);
        if relists {
            self.look_again();
        }
        relists
    }

    /// Waits for the pending answer no longer. An acquisition may have happened, or still happen.
    fn abandon_attempt(&mut self) {
        if let Some(Ask::Acquire { token }) = self.pending.take().map(|pending| pending.kind) {
            self.unsure(token);
        }
    }

    /// Notes an acquisition of unknown outcome.
    fn unsure(&mut self, token: Token) {
        self.look_again();
        if !Mutant::UnknownAcquireLeft.lives() {
            self.leftover = Some(Leftover { token, served: false });
        }
    }

    pub(crate) fn position(&self) -> Position {
        match (&self.term, self.view) {
            (Some(term), _) => Position::Leading { fence: term.fence, until: term.until },
            (None, View::Taken | View::Stray(_)) => Position::Waiting,
            (None, View::Unread | View::Free) => Position::Unknown,
        }
    }

    /// True if no attempt of this session holds the lease, for certain.
    pub(crate) fn is_withdrawn(&self) -> bool {
        let acquires = self.pending.as_ref().is_some_and(|pending| matches!(pending.kind, Ask::Acquire { .. }));
        self.term.is_none() && self.leftover.is_none() && self.release.is_none() && !acquires
    }

    pub(crate) fn awaits(&self, now: Time, id: OpId) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.awaits(now, id))
            || self.release.as_ref().is_some_and(|pending| pending.awaits(now, id))
            || self.beat.as_ref().is_some_and(|pending| pending.awaits(now, id))
    }

    /// True if it waits for this watch.
    pub(crate) fn relies_on(&self, id: OpId) -> bool {
        self.watch == Some(id)
    }

    /// True if nothing keeps it from giving up an attempt that is no term.
    pub(crate) fn may_sweep(&self) -> bool {
        self.release.is_none() && self.release_backoff.deadline().is_none()
    }

    /// Notes the rank of this node among the members.
    pub(crate) fn ranked(&mut self, rank: u32) {
        self.rank = rank;
    }

    /// Delay by which this node lets others go first, so that a thousand waiters are not one herd.
    fn stagger(&self, ttl: Duration) -> Duration {
        const STEP: Duration = Duration::from_millis(2);
        STEP.saturating_mul(self.rank).min(ttl / 8)
    }

    pub(crate) fn deadlines(&self, connected: bool, soonest: &mut Soonest) {
        soonest.answer(self.pending.as_ref());
        soonest.answer(self.release.as_ref());
        soonest.answer(self.beat.as_ref());
        if let Some(term) = &self.term {
            soonest.consider(term.until, Timer::Validity);
        }
        if !connected {
            return;
        }
        soonest.retry(&self.backoff);
        soonest.retry(&self.release_backoff);
        if let Some(term) = self.term.as_ref().filter(|_| self.beat.is_none()) {
            soonest.consider(term.beat_at, Timer::Beat);
        }
        if let Some(at) = self.look_at {
            soonest.consider(at, Timer::Look);
        }
        soonest.relist(&self.relist);
    }

    /// Marks all knowledge of the lease as out of date, a pending answer included.
    fn look_again(&mut self) {
        self.look = true;
        if let Some(pending) = &mut self.pending {
            pending.dirty = true;
        }
    }

    /// Token and incarnation of the next attempt. The incarnation counts only if the store has begun a new life.
    fn next_attempt(&self, standing: &Standing) -> (Token, Incarnation) {
        /// Purposes of random numbers from here on belong to attempts, two to each.
        const FIRST: u64 = 16;
        let purpose = FIRST + 2 * u64::from(self.attempts);
        (Token(standing.random(purpose)), Incarnation(standing.random(purpose + 1)))
    }
}
