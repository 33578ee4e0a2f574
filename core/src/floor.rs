//! The highest fence that this node has seen, and the term record as read in this session.

use crate::mutant::Mutant;
use crate::pass::{Backoff, Pass, Pending, Soonest, Standing};
use crate::rename::{Rename, Renamer};
use crate::store::{Answer, Refusal, Reply, Request, TermRequest};
use crate::{Action, Epoch, Fence, Incarnation, OpId, Sink, Slot, Time};

/// The lowest fence that this node accepts. It outlives sessions; a starting node reads it from the term record, which
/// outlives leaders.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Floor {
    fence: Option<Fence>,
    /// The record, as read on this connection.
    read: Option<Reading>,
    /// True if the floor's incarnation was seen in this session, so that a lost record is written again with it.
    known: bool,
    pending: Option<Pending<()>>,
    backoff: Backoff,
    published: Option<Fence>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Reading {
    Missing,
    /// Something that is not a record stands in its place.
    Malformed,
    Found(Incarnation),
}

/// The term record that a claim writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) incarnation: Incarnation,
    pub(crate) create: bool,
}

impl Floor {
    pub(crate) fn new() -> Self {
        Self { fence: None, read: None, known: false, pending: None, backoff: Backoff::default(), published: None }
    }

    pub(crate) fn fence(&self) -> Option<Fence> {
        self.fence
    }

    /// The record for a claim, once it was read on this connection.
    pub(crate) fn record(&self, standing: &Standing) -> Option<Record> {
        let kept = self.fence.filter(|_| self.known).map(|fence| fence.incarnation);
        match self.read? {
            Reading::Found(incarnation) => Some(Record { incarnation, create: false }),
            lost @ (Reading::Missing | Reading::Malformed) => {
                let incarnation = kept.unwrap_or_else(|| Incarnation(standing.random(4)));
                Some(Record { incarnation, create: lost == Reading::Missing })
            }
        }
    }

    pub(crate) fn begin(&mut self) {
        self.known = false;
    }

    pub(crate) fn suspend(&mut self) {
        self.pending = None;
        self.read = None;
        self.backoff.clear();
    }

    /// Rereads the record, which is not as it was read.
    pub(crate) fn reread(&mut self) {
        self.read = None;
        if let Some(pending) = &mut self.pending {
            pending.dirty = true;
        }
    }

    /// Notes a fence that someone showed. A newer one is not believed, but makes the node read the record.
    pub(crate) fn shown(&mut self, fence: Fence) {
        if self.fence.is_none_or(|floor| fence.is_newer_than(floor)) {
            if Mutant::ForgedFenceBelieved.lives() {
                self.fence = Some(fence);
            }
            self.reread();
        }
    }

    /// Notes a change of the registered coordinators, with the newest epoch among them. If it is not the floor's, a
    /// term was claimed since: the record is read, so that a deposed leader is refused before the new one has asked
    /// anything.
    pub(crate) fn coordinators_changed(&mut self, newest: Option<Epoch>) {
        let known = newest.is_none() || newest == self.fence.map(|fence| fence.epoch);
        if self.is_lost() || !known {
            self.reread();
        }
    }

    /// Notes that this node's own claim was written.
    pub(crate) fn claimed(&mut self, fence: Fence) {
        self.fence = Some(fence);
        self.known = true;
        // A reading under way may have been taken before the claim.
        self.pending = None;
        self.read = Some(Reading::Found(fence.incarnation));
    }

    /// True if someone deleted or overwrote the record. A leader then claims anew: without a record, starting nodes
    /// know of no term.
    pub(crate) fn is_lost(&self) -> bool {
        match self.read {
            Some(Reading::Missing | Reading::Malformed) => true,
            Some(Reading::Found(_)) | None => false,
        }
    }

    /// True if something stands where the record should.
    pub(crate) fn is_malformed(&self) -> bool {
        self.read == Some(Reading::Malformed)
    }

    pub(crate) fn answered(&mut self, now: Time, id: OpId, answer: &Answer) {
        let Some(pending) = self.pending.take_if(|pending| pending.id == id) else { return };
        match answer {
            Answer::Done(Reply::Term(record)) => {
                self.backoff.clear();
                self.found(record.fence);
                self.read = Some(Reading::Found(record.fence.incarnation)).filter(|_| !pending.dirty);
            }
            Answer::Refused(Refusal::Missing) => {
                self.backoff.clear();
                self.read = Some(Reading::Missing).filter(|_| !pending.dirty);
            }
            Answer::Refused(Refusal::Malformed) if !Mutant::GarbageStandsInTheWay.lives() => {
                self.backoff.clear();
                self.read = Some(Reading::Malformed).filter(|_| !pending.dirty);
            }
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => self.backoff.fail(now),
        }
    }

    /// Takes over a record. One session's readings never go back, so another incarnation belongs to a later life of the
    /// record: the store was emptied, or an operator deleted the record and a node that did not know its incarnation
    /// wrote it again.
    fn found(&mut self, fence: Fence) {
        let older = |floor: Fence| floor.incarnation == fence.incarnation && floor.epoch >= fence.epoch;
        if !self.fence.is_some_and(older) || Mutant::FloorGoesBack.lives() {
            self.fence = Some(fence);
        }
        self.known = true;
    }

    pub(crate) fn expire(&mut self, now: Time) {
        self.pending.take_if(|pending| pending.deadline <= now);
        self.backoff.holds(now);
    }

    pub(crate) fn advance<S: Sink>(&mut self, pass: &mut Pass<'_, S>) {
        if let Some(fence) = self.fence
            && self.published != Some(fence)
        {
            self.published = Some(fence);
            pass.out.push(Action::Floor(fence));
        }
        if self.pending.is_some() || self.read.is_some() || self.backoff.holds(pass.now) {
            return;
        }
        let Some(standing) = pass.connected() else { return };
        self.pending = Some(pass.send(&standing, Slot::Term, (), Request::Term(TermRequest::Read)));
    }

    pub(crate) fn deadlines(&self, connected: bool, soonest: &mut Soonest) {
        soonest.answer(self.pending.as_ref());
        if connected {
            soonest.retry(&self.backoff);
        }
    }

    pub(crate) fn awaits(&self, now: Time, id: OpId) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.awaits(now, id))
    }

    /// True if it waits for nothing although it should.
    pub(crate) fn is_stuck(&self, connected: bool) -> bool {
        connected && self.read.is_none() && self.pending.is_none() && self.backoff.deadline().is_none()
    }
}

impl Rename for Floor {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.fence.rename(renamer);
        match &mut self.read {
            Some(Reading::Found(incarnation)) => renamer.incarnation(incarnation),
            Some(Reading::Missing | Reading::Malformed) | None => {}
        }
        self.pending.rename(renamer);
        self.backoff.rename(renamer);
        self.published.rename(renamer);
    }
}

/// A pending operation of which nothing else is known.
impl Rename for () {
    fn rename(&mut self, _renamer: &mut dyn Renamer) {}
}
