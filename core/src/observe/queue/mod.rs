//! The promises about a node's standing in a queue of candidates.

mod candidacy;
mod doubt;
mod proof;

use core::time::Duration;

use candidacy::Candidacy;
use doubt::Doubts;
use proof::Proof;

use crate::store::{Answer, Notice, QueueReply, Reply, Request};
use crate::{Config, Node, OpId, Slot, Time, Violation};

/// Judge of one node's standing in its queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct QueueJudge {
    doubts: Doubts,
    proof: Proof,
    candidacy: Candidacy,
}

impl QueueJudge {
    /// Notes that the session is another one, or over. `ended`: timeout of the session before, if there was one.
    pub(super) fn begin(&mut self, now: Time, ended: Option<Duration>) {
        self.doubts = Doubts::default();
        self.proof = Proof::default();
        self.candidacy.begin(now, ended);
    }

    /// Notes that the connection is another one, or lost.
    pub(super) fn relink(&mut self) {
        self.candidacy.relink();
    }

    /// Notes the timeout of the session, each time it is negotiated.
    pub(super) fn negotiated(&mut self, timeout: Duration) {
        self.proof.negotiated(timeout);
    }

    /// Judges a request that is sent. `serves`: true if the service of a term is not gone yet.
    ///
    /// # Errors
    /// The first promise that it breaks.
    pub(super) fn asked(
        &mut self,
        now: Time,
        id: OpId,
        request: &Request,
        serves: bool,
        after: &Node,
    ) -> Result<(), Violation> {
        match request {
            Request::Sync => self.doubts.synchronizing(id),
            Request::Queue(request) => {
                self.proof.asked(now, id, request);
                self.doubts.asked(id, request)?;
                self.candidacy.asked(id, request, serves, after)?;
            }
            Request::Lease(_) | Request::Term(_) | Request::Directory(_) | Request::Settings(_) | Request::Wish(_) => {}
        }
        Ok(())
    }

    /// Notes an answer. `awaited`: true if the node waited for it.
    pub(super) fn answered(&mut self, now: Time, id: OpId, answer: &Answer, awaited: bool, after: &Node) {
        self.doubts.answered(id, answer);
        self.proof.answered(id, answer);
        self.candidacy.answered(now, id, answer, awaited, after);
    }

    /// Notes that a watch fired.
    pub(super) fn noticed(&mut self, id: OpId, notice: Notice) {
        self.candidacy.noticed(id, notice);
    }

    /// True for an answer that counts although nobody waits for it: it reports a candidate of the current session that
    /// exists after all.
    pub(super) fn is_late_create(&self, id: OpId, answer: &Answer) -> bool {
        match answer {
            Answer::Done(Reply::Queue(QueueReply::Entered(candidate))) => {
                id.slot == Slot::Election && candidate.guid.is_some() && candidate.guid == self.candidacy.guid()
            }
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => false,
        }
    }

    /// Judges the state after each step.
    ///
    /// # Errors
    /// The first promise that does not hold.
    pub(super) fn judge(&self, after: &Node) -> Result<(), Violation> {
        self.candidacy.judge(after)
    }

    /// True if a gate may be open until then, by the proof of the session.
    pub(super) fn covers(&self, until: Time, config: &Config) -> bool {
        self.proof.covers(until, config)
    }
}
