//! The lease of an election, as the store keeps it: the standard to which adapters of Redis are held.
//!
//! **Time.** Native times to live follow the server's wall clock, which steps, so the end of a lease is data, judged on the
//! store's own clock. That clock advances only with calls: waiters that read again make it go on.
//!
//! **Lives.** A process that restarted, or a replica that was promoted, may lack the last writes. A store that sees another
//! [`Life`] than before begins a new incarnation, and nobody leads until the longest lease that it knows of, or that
//! somebody asks for, has passed since. Such a lease may have been granted by a write that was lost.
//!
//! **Left out**: sessions that end, and members. The caller's session and link are judged before a request comes here; a
//! session that ends or is closed is [told](LeaseMachine::end_session).

mod canonical;
mod clock;
#[cfg(test)]
mod tests;

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use self::clock::Clock;
use super::{Answer, Holding, LeaseReply, LeaseRequest, Refusal, Reply};
use crate::mutant::Mutant;
use crate::{Epoch, Fence, Incarnation, Session, Time, Token};

/// The process and the history behind a store's answers. Another value means that writes may have been lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Life {
    /// Random number of the process (Redis: `run_id`).
    pub run: u64,
    /// Random number of the history of its writes (Redis: `master_replid`).
    pub history: u64,
}

impl Life {
    /// The first life of a server.
    pub const FIRST: Self = Self { run: 1, history: 0 };
    /// A life before the first.
    const BEFORE: Self = Self { run: 0, history: 0 };

    /// The life that follows, of another process.
    pub(super) const fn next(self) -> Self {
        Self { run: self.run.wrapping_add(1), history: self.history }
    }
}

/// A server at the instant of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    /// Wall clock, which may step both ways.
    pub wall: Time,
    /// Life of the server.
    pub life: Life,
}

/// The client that calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// Session, known to live.
    pub session: Session,
    /// Id of the node.
    pub id: Arc<str>,
    /// Timeout of the session, by which the clock is bounded as by a lease.
    pub timeout: Duration,
}

/// The lease of one cluster as a pure state machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LeaseMachine {
    clock: Clock,
    life: Option<Life>,
    incarnation: Option<Incarnation>,
    /// Instant of the store's clock at which its present life was first seen.
    born: Time,
    /// Longest time to live that was ever asked for.
    longest: Duration,
    epoch: Epoch,
    granted: Option<Granted>,
    watchers: BTreeSet<Session>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Granted {
    token: Token,
    owner: Session,
    id: Arc<str>,
    epoch: Epoch,
    ttl: Duration,
    ends: Time,
}

impl LeaseMachine {
    /// The lease of a store that begins with this life: no lease of an earlier one can live, so it is free at once.
    pub(super) fn founded(life: Life) -> Self {
        let clock = Clock { now: Time::from_nanos(1 << 62), wall: None };
        Self { life: Some(life), clock, ..Self::default() }
    }

    /// Carries out one request in one transaction. Pushes the sessions whose watch fires.
    pub fn handle(
        &mut self,
        reading: Reading,
        caller: &Caller,
        request: &LeaseRequest,
        notified: &mut Vec<Session>,
    ) -> Answer {
        self.tick(reading, caller.timeout);
        let result = match request {
            LeaseRequest::Peek { watch } => Ok(self.peek(caller, *watch)),
            LeaseRequest::Acquire { ttl, .. } | LeaseRequest::Renew { ttl, .. } if ttl.is_zero() => {
                Err(Refusal::Denied)
            }
            LeaseRequest::Acquire { token, ttl, incarnation } => Ok(self.acquire(caller, *token, *ttl, *incarnation)),
            LeaseRequest::Renew { token, ttl } => self.renew(*token, *ttl),
            LeaseRequest::Release { token } => self.release(*token, notified),
        };
        match result {
            Ok(reply) => Answer::Done(Reply::Lease(reply)),
            Err(refusal) => Answer::Refused(refusal),
        }
    }

    /// Closes a session in good order: its watch goes, and its lease is free for others, who are told.
    pub fn close_session(&mut self, session: Session, notified: &mut Vec<Session>) {
        self.end_session(session);
        if self.granted.as_ref().is_some_and(|granted| granted.owner == session) {
            self.free(notified);
        }
    }

    /// Ends a session that was not heard for too long: its watch goes. Its lease stays until it ends by itself, since it may
    /// be longer, and its holder leads until then.
    pub fn end_session(&mut self, session: Session) {
        self.watchers.remove(&session);
    }

    /// Holder of the lease at the last call.
    #[must_use]
    pub fn holder(&self) -> Option<Holding> {
        let now = self.clock.now();
        self.granted.as_ref().filter(|granted| granted.ends > now).map(|granted| Holding {
            token: granted.token,
            owner: granted.owner,
            id: granted.id.clone(),
            epoch: granted.epoch,
            left: granted.ends.since(now),
        })
    }

    /// Ends the lease now, as if its time had passed.
    pub(super) fn lapse(&mut self) {
        self.granted = None;
    }

    /// Lets the store's clock go on: any call does, whatever it asks for. `timeout` is that of the caller's session.
    pub fn tick(&mut self, reading: Reading, timeout: Duration) {
        let ttl = self.granted.as_ref().map_or(timeout, |granted| granted.ttl);
        self.clock.advance(reading.wall, ttl.min(timeout) / 4);
        if self.life != Some(reading.life) {
            // Nobody knows who held the lease, or until when.
            self.life = Some(reading.life);
            self.born = self.clock.now();
            self.granted = None;
            if !Mutant::NewLifeOpensAtOnce.lives() {
                self.incarnation = None;
            }
        }
    }

    fn peek(&mut self, caller: &Caller, watch: bool) -> LeaseReply {
        if watch {
            self.watchers.insert(caller.session);
        }
        match self.holder() {
            Some(holding) => LeaseReply::Held(holding),
            None => self.closed().unwrap_or(LeaseReply::Free),
        }
    }

    fn acquire(&mut self, caller: &Caller, token: Token, ttl: Duration, incarnation: Incarnation) -> LeaseReply {
        if let Some(holding) = self.holder() {
            return LeaseReply::Held(holding);
        }
        self.longest = self.longest.max(ttl);
        if let Some(closed) = self.closed() {
            return closed;
        }
        let incarnation = *self.incarnation.get_or_insert(incarnation);
        if !Mutant::EpochNotRaised.lives() || self.epoch == Epoch(0) {
            self.epoch = Epoch(self.epoch.0.saturating_add(1));
        }
        self.granted = Some(Granted {
            token,
            owner: caller.session,
            id: caller.id.clone(),
            epoch: self.epoch,
            ttl,
            ends: self.clock.now() + ttl,
        });
        LeaseReply::Acquired(Fence { incarnation, epoch: self.epoch })
    }

    fn renew(&mut self, token: Token, ttl: Duration) -> Result<LeaseReply, Refusal> {
        let now = self.clock.now();
        let granted = self.granted.as_mut().filter(|granted| granted.token == token && granted.ends > now);
        let granted = granted.ok_or(Refusal::LeaseLost)?;
        granted.ttl = ttl;
        granted.ends = now + ttl;
        self.longest = self.longest.max(ttl);
        Ok(LeaseReply::Renewed)
    }

    fn release(&mut self, token: Token, notified: &mut Vec<Session>) -> Result<LeaseReply, Refusal> {
        let checked = |granted: &Granted| granted.token == token || Mutant::ReleaseUnchecked.lives();
        if !self.granted.as_ref().is_some_and(checked) {
            return Err(Refusal::LeaseLost);
        }
        self.free(notified);
        Ok(LeaseReply::Released)
    }

    fn free(&mut self, notified: &mut Vec<Session>) {
        self.granted = None;
        notified.extend(core::mem::take(&mut self.watchers));
    }

    /// Says so while a lease of an earlier life may live.
    fn closed(&self) -> Option<LeaseReply> {
        if Mutant::NewLifeOpensAtOnce.lives() {
            return None;
        }
        let left = (self.born + self.longest).since(self.clock.now());
        (!left.is_zero()).then_some(LeaseReply::Closed { left })
    }
}
