//! Own candidates of a node, as the store reported them, and the node's use of them.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::time::Duration;

use crate::pass::remember;
use crate::store::{Answer, Notice, QueueReply, QueueRequest, Refusal, Reply};
use crate::{Candidate, Guid, Node, OpId, Session, Slot, Time, Violation};

/// Own candidates of the current session, and candidates that earlier sessions left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Candidacy {
    /// Guid of the candidates requested in this session.
    guid: Option<Guid>,
    /// Sequences of those that exist, as far as the store has reported.
    known: BTreeSet<i64>,
    /// Candidates that this session owns, as read on this connection.
    owned: BTreeSet<Candidate>,
    /// The watch on one of them.
    watched: Option<(OpId, Candidate)>,
    /// Pending requests, by operation.
    asked: BTreeMap<OpId, QueueRequest>,
    /// Guids of earlier sessions, and the times until which their candidates are looked for.
    former: Vec<(Option<Guid>, Time)>,
    /// Candidates of earlier sessions in the last listing that are not known to be gone since.
    strays: BTreeSet<Candidate>,
    /// Candidates that were read and have no owner, for as long as they are listed.
    ownerless: BTreeSet<Candidate>,
}

impl Candidacy {
    /// Notes that the connection is another one, or lost.
    pub(super) fn relink(&mut self) {
        self.owned.clear();
        self.watched = None;
        self.asked.clear();
    }

    /// Notes that the session is another one, or over. `ended`: timeout of the session before, if there was one.
    pub(super) fn begin(&mut self, now: Time, ended: Option<Duration>) {
        let mut former = core::mem::take(&mut self.former);
        if let Some(timeout) = ended {
            remember(&mut former, (self.guid, now + timeout.saturating_mul(2)));
        }
        *self = Self { former, ..Self::default() };
    }

    /// Guid of this session's candidates.
    pub(super) fn guid(&self) -> Option<Guid> {
        self.guid
    }

    /// Notes an answer. `awaited`: true if the node waited for it.
    pub(super) fn answered(&mut self, now: Time, id: OpId, answer: &Answer, awaited: bool, after: &Node) {
        let request = self.asked.remove(&id).filter(|_| awaited);
        match (request, answer) {
            (Some(QueueRequest::Enter { .. }), Answer::Done(Reply::Queue(QueueReply::Entered(candidate)))) => {
                self.entered(*candidate)
            }
            // Answer to an attempt that was given up; the candidate exists nevertheless.
            (None, Answer::Done(Reply::Queue(QueueReply::Entered(candidate))))
                if id.slot == Slot::Election && !awaited =>
            {
                self.entered(*candidate);
            }
            (Some(QueueRequest::List), Answer::Done(Reply::Queue(QueueReply::Candidates { candidates, .. }))) => {
                self.listed(now, candidates)
            }
            (
                Some(QueueRequest::Inspect { candidate, .. }),
                Answer::Done(Reply::Queue(QueueReply::Candidate { owner: Session::NOBODY, .. })),
            ) => {
                self.ownerless.insert(candidate);
                self.gone(candidate);
            }
            (
                Some(QueueRequest::Inspect { candidate, watch }),
                Answer::Done(Reply::Queue(QueueReply::Candidate { owner, .. })),
            ) => {
                if self.is_own(candidate) && after.session().is_some_and(|(session, _)| session == *owner) {
                    self.known.insert(candidate.sequence);
                    self.owned.insert(candidate);
                    self.watched = Some((id, candidate)).filter(|_| watch).or(self.watched);
                }
            }
            (
                Some(QueueRequest::Claim { candidate, .. } | QueueRequest::Beat { candidate }),
                Answer::Refused(Refusal::CandidateGone),
            )
            | (
                Some(QueueRequest::Inspect { candidate, .. } | QueueRequest::Delete { candidate }),
                Answer::Refused(Refusal::Missing),
            )
            | (Some(QueueRequest::Delete { candidate }), Answer::Done(Reply::Queue(QueueReply::Deleted))) => {
                self.gone(candidate);
            }
            (Some(_) | None, Answer::Done(_) | Answer::Refused(_) | Answer::Unknown) => {}
        }
    }

    /// Notes that a watch fired.
    pub(super) fn noticed(&mut self, id: OpId, notice: Notice) {
        if let Some((_, candidate)) = self.watched.take_if(|(watch, _)| *watch == id)
            && notice == Notice::Deleted
        {
            self.gone(candidate);
        }
    }

    /// Judges a request that is sent. `serves`: true if the service of a term is not gone yet.
    ///
    /// # Errors
    /// The request creates a second candidate while the first exists; it deletes the lowest although the node should
    /// keep its place, or before the service of its term is gone; or it claims or prolongs a term on a candidate that
    /// nothing has shown to belong to this session (P2).
    pub(super) fn asked(
        &mut self,
        id: OpId,
        request: &QueueRequest,
        serves: bool,
        after: &Node,
    ) -> Result<(), Violation> {
        let judged = match request {
            QueueRequest::Enter { guid } => {
                self.guid = Some(*guid);
                if self.known.is_empty() { Ok(()) } else { Err(Violation::CreatedTwice) }
            }
            QueueRequest::Delete { candidate } => {
                let is_spare = self.known.first().is_some_and(|lowest| *lowest < candidate.sequence);
                match !self.is_own(*candidate) || is_spare {
                    true => Ok(()),
                    false if !after.withdraws() => Err(Violation::PlaceGivenUp),
                    false if serves => Err(Violation::ReleasedTooEarly),
                    false => Ok(()),
                }
            }
            QueueRequest::Claim { candidate, .. } | QueueRequest::Beat { candidate } => {
                if self.owned.contains(candidate) { Ok(()) } else { Err(Violation::LeaderWithoutCandidate) }
            }
            QueueRequest::List | QueueRequest::Inspect { .. } => Ok(()),
        };
        self.asked.retain(|other, _| other.slot != id.slot);
        self.asked.insert(id, request.clone());
        judged
    }

    /// Judges the state after each step.
    ///
    /// # Errors
    /// A term without any candidate (P2); or a candidate of an earlier session that is not being deleted.
    pub(super) fn judge(&self, after: &Node) -> Result<(), Violation> {
        if after.term().is_some() && self.known.is_empty() {
            return Err(Violation::LeaderWithoutCandidate);
        }
        if after.has_swept() && !self.strays.is_empty() { Err(Violation::FormerLeft) } else { Ok(()) }
    }

    fn is_own(&self, candidate: Candidate) -> bool {
        candidate.guid.is_some() && candidate.guid == self.guid
    }

    fn entered(&mut self, candidate: Candidate) {
        if self.is_own(candidate) {
            self.known.insert(candidate.sequence);
        }
    }

    fn listed(&mut self, now: Time, candidates: &[Candidate]) {
        self.ownerless.retain(|candidate| candidates.contains(candidate));
        let own = candidates.iter().filter(|one| self.is_own(**one) && !self.ownerless.contains(one));
        let own = own.map(|one| one.sequence);
        self.known = own.collect();
        let is_former = |one: &&Candidate| {
            one.guid.is_some() && self.former.iter().any(|(guid, until)| *guid == one.guid && *until > now)
        };
        self.strays = candidates.iter().filter(is_former).copied().collect();
    }

    fn gone(&mut self, candidate: Candidate) {
        self.strays.remove(&candidate);
        self.owned.remove(&candidate);
        if self.is_own(candidate) {
            self.known.remove(&candidate.sequence);
        }
    }
}
