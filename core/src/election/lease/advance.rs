//! The next step of an election by a lease, derived from what is wanted and what is known: nothing is planned ahead.

use super::{Ask, Lease, Leftover, View};
use crate::election::Will;
use crate::floor::Floor;
use crate::mutant::Mutant;
use crate::pass::{Pass, Standing};
use crate::store::{LeaseRequest, Request};
use crate::{Config, Sink, Slot, Time, Token};

impl Lease {
    /// Sends the requests that are due. The caller has already applied time and will ([`Self::expire`],
    /// [`Self::step_down`]).
    pub(crate) fn advance<S: Sink>(&mut self, pass: &mut Pass<'_, S>, will: Will, floor: &Floor) {
        let Some(standing) = pass.connected() else { return };
        self.heed_notice(pass.now, &standing);
        self.send_beat(pass, &standing);
        self.send_release(pass, &standing, will);
        if self.pending.is_some() || self.backoff.holds(pass.now) {
            return;
        }
        let Some((ask, request)) = self.next(&standing, will, floor) else { return };
        match ask {
            Ask::Acquire { .. } if Mutant::TokenUsedTwice.lives() => {}
            Ask::Acquire { .. } => self.attempts = self.attempts.wrapping_add(1),
            Ask::Peek { .. } => {}
        }
        self.pending = Some(pass.send(&standing, Slot::Election, ask, Request::Lease(request)));
    }

    /// Looks at a lease that was given up, once those who go first have had their time.
    fn heed_notice(&mut self, now: Time, standing: &Standing) {
        if core::mem::take(&mut self.given_up) {
            let at = now + self.stagger(standing.timeout);
            if at <= now {
                self.look_again();
            } else {
                self.look_at = Some(self.look_at.map_or(at, |other| other.min(at)));
            }
        }
    }

    /// Renews the lease. An attempt gets a sixth of the lease at most, so that a call that hangs does not end a term that
    /// the next call could keep.
    fn send_beat<S: Sink>(&mut self, pass: &mut Pass<'_, S>, standing: &Standing) {
        let Some(term) = self.term.as_mut().filter(|term| term.beat_at <= pass.now) else { return };
        if self.beat.is_some() {
            return;
        }
        let (token, ttl) = (term.token, standing.timeout);
        term.beat_at = pass.now + Config::heartbeat(standing.timeout);
        let mut beat = pass.send(standing, Slot::Beat, token, Request::Lease(LeaseRequest::Renew { token, ttl }));
        beat.deadline = beat.deadline.min(pass.now + standing.timeout / 6);
        self.beat = Some(beat);
    }

    fn send_release<S: Sink>(&mut self, pass: &mut Pass<'_, S>, standing: &Standing, will: Will) {
        if self.release.is_some() || self.release_backoff.holds(pass.now) {
            return;
        }
        let Some(token) = self.unwanted(will) else { return };
        let request = Request::Lease(LeaseRequest::Release { token });
        self.release = Some(pass.send(standing, Slot::Sweep, token, request));
    }

    /// An attempt to give up: one that never was a term, or any if this node withdraws.
    fn unwanted(&self, will: Will) -> Option<Token> {
        match (self.leftover, self.view) {
            (Some(Leftover { token, served: false }), _) => Some(token),
            (Some(Leftover { token, served: true }), _) if will == Will::Withdraw => Some(token),
            (Some(Leftover { served: true, .. }), _) => None,
            (None, View::Stray(token)) => Some(token),
            (None, View::Unread | View::Free | View::Taken) => None,
        }
    }

    fn next(&self, standing: &Standing, will: Will, floor: &Floor) -> Option<(Ask, LeaseRequest)> {
        if self.term.is_some() {
            // A term needs no watch: the next renewal tells that its lease is gone.
            return self.look.then_some((Ask::Peek { watch: false }, LeaseRequest::Peek { watch: false }));
        }
        match will {
            Will::Keep | Will::Withdraw => return None,
            Will::Stand => {}
        }
        if self.leftover.is_some_and(|leftover| !leftover.served) {
            return None;
        }
        if self.look || self.view == View::Unread {
            return Some((Ask::Peek { watch: true }, LeaseRequest::Peek { watch: true }));
        }
        match self.view {
            View::Free => self.acquire(standing, floor),
            View::Unread | View::Taken | View::Stray(_) => None,
        }
    }

    /// The next attempt, once the record of the latest term was read.
    fn acquire(&self, standing: &Standing, floor: &Floor) -> Option<(Ask, LeaseRequest)> {
        let record = floor.record(standing)?;
        let (token, fresh) = self.next_attempt(standing);
        let incarnation = if Mutant::OldIncarnationOffered.lives() { record.incarnation } else { fresh };
        Some((Ask::Acquire { token }, LeaseRequest::Acquire { token, ttl: standing.timeout, incarnation }))
    }
}
