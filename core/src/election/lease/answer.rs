//! Answers and notices, as they reach an election by a lease.

use core::time::Duration;

use super::{Ask, Lease, LeaseTiming, Leftover, Term, View};
use crate::election::{Context, Discovery};
use crate::mutant::Mutant;
use crate::pass::{Pending, take};
use crate::store::{Answer, Holding, LeaseReply, Refusal, Reply};
use crate::{Config, Fence, OpId, Time, Token};

impl Lease {
    /// Handles an answer in one of the election's slots. An answer that nobody waits for changes nothing.
    pub(crate) fn answered(&mut self, context: &Context<'_>, id: OpId, answer: &Answer) -> Discovery {
        if let Some(pending) = take(&mut self.pending, id) {
            match pending.kind {
                Ask::Peek { watch } => self.peek_answered(context, &pending, watch, answer),
                Ask::Acquire { token } => self.acquire_answered(context, &pending, token, answer),
            }
        } else if let Some(pending) = take(&mut self.release, id) {
            self.release_answered(context.now, pending.kind, answer);
        } else if let Some(pending) = take(&mut self.beat, id) {
            self.beat_answered(context, &pending, answer);
        }
        Discovery::default()
    }

    /// Handles a fired watch: the lease was given up. If an answer is pending for it, the answer is only marked as out of
    /// date.
    pub(crate) fn noticed(&mut self, id: OpId) {
        if let Some(pending) = self.pending.as_mut().filter(|pending| pending.id == id) {
            pending.dirty = true;
        } else if self.watch.take_if(|watch| *watch == id).is_some() {
            self.given_up = true;
        }
    }

    fn peek_answered(&mut self, context: &Context<'_>, pending: &Pending<Ask>, watch: bool, answer: &Answer) {
        let Answer::Done(Reply::Lease(reply)) = answer else { return self.backoff.fail(context.now) };
        self.backoff.clear();
        self.look = pending.dirty;
        if watch {
            self.watch = Some(pending.id).filter(|_| !pending.dirty);
        }
        self.read(context, reply);
    }

    fn acquire_answered(&mut self, context: &Context<'_>, pending: &Pending<Ask>, token: Token, answer: &Answer) {
        match answer {
            Answer::Done(Reply::Lease(LeaseReply::Acquired(fence))) => {
                self.backoff.clear();
                self.acquired(context, pending, token, *fence);
            }
            Answer::Done(Reply::Lease(reply)) => {
                self.backoff.clear();
                // Somebody was faster. The watch still stands, if it has not fired.
                self.look |= pending.dirty;
                self.read(context, reply);
            }
            Answer::Unknown => {
                self.unsure(token);
                self.backoff.fail(context.now);
            }
            Answer::Done(_) | Answer::Refused(_) => {
                self.look = true;
                self.backoff.fail(context.now);
            }
        }
    }

    /// Handles an acquired lease. It makes a term only if some of its validity is left.
    fn acquired(&mut self, context: &Context<'_>, pending: &Pending<Ask>, token: Token, fence: Fence) {
        let until = valid_until(context, pending.sent);
        if context.now < until {
            let beat_at = pending.sent + Config::heartbeat(context.standing.timeout);
            self.term = Some(Term { token, fence, until, beat_at });
            self.view = View::Unread;
            (self.look, self.look_at, self.watch) = (false, None, None);
        } else {
            self.unsure(token);
            self.backoff.fail(context.now);
        }
    }

    /// Takes over what the store says about the lease.
    fn read(&mut self, context: &Context<'_>, reply: &LeaseReply) {
        match reply {
            LeaseReply::Free => self.found(None),
            LeaseReply::Held(holding) => {
                self.found(Some(holding));
                self.wait(context, holding.left);
            }
            LeaseReply::Closed { left } => {
                self.found(None);
                self.view = View::Taken;
                self.wait(context, *left);
            }
            LeaseReply::Acquired(_) | LeaseReply::Renewed | LeaseReply::Released => self.look = true,
        }
    }

    /// Takes over who holds the lease. Whoever is not named does not hold it any more, and never will: requests of one
    /// session are carried out in order, and a renewal brings nothing back.
    fn found(&mut self, holding: Option<&Holding>) {
        let token = holding.map(|holding| holding.token);
        let is_term = self.term.as_ref().map(|term| Some(term.token) == token);
        if is_term == Some(false) && !Mutant::ForeignHolderIgnored.lives() {
            self.lost();
        }
        self.leftover.take_if(|leftover| Some(leftover.token) != token);
        let stray = self.former.iter().find(|former| Some(former.leftover.token) == token);
        self.view = match (token, stray) {
            (None, _) => View::Free,
            (Some(token), Some(former)) if !former.leftover.served => View::Stray(token),
            (Some(_), Some(_) | None) => View::Taken,
        };
    }

    /// Waits until the lease that was just read may be over, by this node's clock, and for those who go first.
    fn wait(&mut self, context: &Context<'_>, left: Duration) {
        if self.term.is_none() && !Mutant::EndNotAwaited.lives() {
            let over = context.now + left.saturating_add(LeaseTiming::GRAIN);
            self.look_at = Some(over + self.stagger(context.standing.timeout));
        }
    }

    fn beat_answered(&mut self, context: &Context<'_>, pending: &Pending<Token>, answer: &Answer) {
        let Some(term) = self.term.as_mut().filter(|term| term.token == pending.kind) else { return };
        match answer {
            Answer::Done(Reply::Lease(LeaseReply::Renewed)) => {
                term.until = term.until.max(valid_until(context, pending.sent));
            }
            Answer::Refused(Refusal::LeaseLost) if !Mutant::RefusedRenewalIgnored.lives() => self.lost(),
            // The next renewal is due soon, and the term ends by itself if none is confirmed in time.
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => {}
        }
    }

    fn release_answered(&mut self, now: Time, token: Token, answer: &Answer) {
        match answer {
            Answer::Done(Reply::Lease(LeaseReply::Released)) | Answer::Refused(Refusal::LeaseLost) => {
                self.release_backoff.clear();
                self.leftover.take_if(|leftover| leftover.token == token);
                self.former.retain(|former| former.leftover != Leftover { token, served: false });
                self.look_again();
            }
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => self.release_backoff.fail(now),
        }
    }
}

/// Time until which a lease is surely this node's, if the write that was sent then was confirmed.
fn valid_until(context: &Context<'_>, sent: Time) -> Time {
    let Context { now, standing, config } = *context;
    let from = if Mutant::LeaseFromAnswer.lives() { now } else { sent };
    if Mutant::ClockStepsForgotten.lives() {
        return from + standing.timeout.saturating_sub(config.gate_close);
    }
    config.validity(standing.timeout).map_or(from, |validity| from + validity)
}
