//! The promises about a node's standing in an election by a lease.

use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;

use crate::store::{Answer, LeaseReply, LeaseRequest, Refusal, Reply, Request};
use crate::{Config, Node, OpId, Time, Token, Violation};

/// Judge of one node's attempts at a lease.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct LeaseJudge {
    timeout: Duration,
    /// Tokens of all attempts so far.
    used: BTreeSet<Token>,
    /// Tokens of all terms so far.
    terms: BTreeSet<Token>,
    /// Requests of this session and the times at which they were sent.
    sent: BTreeMap<OpId, (LeaseRequest, Time)>,
    /// The last attempt, while its outcome is unknown.
    in_doubt: Option<(OpId, Token)>,
    /// An attempt of unknown outcome that the store was seen to have granted.
    found: Option<Token>,
    held: Option<Held>,
}

/// The lease that the node holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Held {
    token: Token,
    /// Time at which the last write known to be committed was sent.
    since: Time,
}

impl LeaseJudge {
    /// Notes that the session is another one, or over.
    pub(super) fn begin(&mut self) {
        self.sent.clear();
        (self.in_doubt, self.found, self.held) = (None, None, None);
    }

    /// Notes the timeout of the session, each time it is negotiated.
    pub(super) fn negotiated(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Judges a request that is sent. `serves`: true while the service of a term starts, runs or stops.
    ///
    /// # Errors
    /// A token is used twice; an attempt follows one that may still happen; a lease is renewed that is not known to be
    /// held; or the lease of a term is given up before its service has stopped.
    pub(super) fn asked(&mut self, now: Time, id: OpId, request: &Request, serves: bool) -> Result<(), Violation> {
        let Request::Lease(request) = request else { return Ok(()) };
        self.sent.retain(|other, (_, sent)| other.slot != id.slot || now < *sent + self.timeout);
        self.sent.insert(id, (request.clone(), now));
        match request {
            LeaseRequest::Acquire { token, .. } => {
                if !self.used.insert(*token) {
                    return Err(Violation::CreatedTwice);
                }
                if self.in_doubt.replace((id, *token)).is_some() { Err(Violation::WriteInDoubt) } else { Ok(()) }
            }
            LeaseRequest::Renew { token, .. } => {
                let is_held = self.held.is_some_and(|held| held.token == *token);
                if is_held { Ok(()) } else { Err(Violation::LeaderWithoutCandidate) }
            }
            LeaseRequest::Release { token } => {
                let is_early = serves && self.terms.contains(token);
                if is_early { Err(Violation::ReleasedTooEarly) } else { Ok(()) }
            }
            LeaseRequest::Peek { .. } => Ok(()),
        }
    }

    /// Notes an answer. `awaited`: true if the node waited for it.
    pub(super) fn answered(&mut self, id: OpId, answer: &Answer, awaited: bool) {
        let Some((request, sent)) = self.sent.remove(&id).filter(|_| awaited) else { return };
        let reply = match answer {
            Answer::Done(Reply::Lease(reply)) => Some(reply),
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => None,
        };
        match (request, reply, answer) {
            (LeaseRequest::Acquire { token, .. }, Some(LeaseReply::Acquired(_)), _) => {
                self.in_doubt = None;
                self.terms.insert(token);
                self.held = Some(Held { token, since: sent });
            }
            (LeaseRequest::Acquire { .. }, Some(reply), _) => {
                self.in_doubt = None;
                self.read(id, reply);
            }
            (LeaseRequest::Acquire { .. }, None, Answer::Refused(_)) => self.in_doubt = None,
            (LeaseRequest::Peek { .. }, Some(reply), _) => self.read(id, reply),
            (LeaseRequest::Renew { token, .. }, Some(LeaseReply::Renewed), _) => {
                let held = self.held.as_mut().filter(|held| held.token == token);
                held.into_iter().for_each(|held| held.since = held.since.max(sent));
            }
            (LeaseRequest::Release { token }, Some(LeaseReply::Released), _)
            | (
                LeaseRequest::Release { token } | LeaseRequest::Renew { token, .. },
                None,
                Answer::Refused(Refusal::LeaseLost),
            ) => self.gone(token),
            (_, _, Answer::Done(_) | Answer::Refused(_) | Answer::Unknown) => {}
        }
    }

    /// Judges the state after each step.
    ///
    /// # Errors
    /// A term without the lease (P2); or an attempt that was found to hold the lease is not being given back.
    pub(super) fn judge(&self, after: &Node) -> Result<(), Violation> {
        if after.term().is_some() && self.held.is_none() {
            return Err(Violation::LeaderWithoutCandidate);
        }
        if after.has_swept() && self.found.is_some() { Err(Violation::FormerLeft) } else { Ok(()) }
    }

    /// True if a gate may be open until then, counted from before the call of a write and never from its answer.
    pub(super) fn covers(&self, until: Time, config: &Config) -> bool {
        let Some((held, validity)) = self.held.zip(config.validity(self.timeout)) else { return false };
        // A step of the store's clock takes a quarter of the lease, whatever the node makes of it.
        let validity = validity.min(self.timeout - self.timeout / 4);
        until <= held.since + validity
    }

    /// Notes who holds the lease.
    fn read(&mut self, id: OpId, reply: &LeaseReply) {
        let token = match reply {
            LeaseReply::Held(holding) => Some(holding.token),
            LeaseReply::Free | LeaseReply::Closed { .. } => None,
            LeaseReply::Acquired(_) | LeaseReply::Renewed | LeaseReply::Released => return,
        };
        self.held.take_if(|held| Some(held.token) != token);
        if let Some((attempt, doubtful)) = self.in_doubt {
            if Some(doubtful) == token {
                self.found = token;
            } else if id.sequence > attempt.sequence {
                self.gone(doubtful);
            }
        }
    }

    fn gone(&mut self, token: Token) {
        self.held.take_if(|held| held.token == token);
        self.in_doubt.take_if(|(_, doubtful)| *doubtful == token);
        self.found.take_if(|found| *found == token);
    }
}
