//! The effects of answers and notices.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Ask, Candidate, Doubt, Head, Queue, Term, View, Watch, owns};
use crate::election::{Context, Discovery};
use crate::mutant::Mutant;
use crate::pass::{Pending, take};
use crate::store::{Answer, Notice, QueueReply, Refusal, Reply};
use crate::{Config, Epoch, Fence, Incarnation, OpId, Session, Slot, Time};

impl Queue {
    /// Handles an answer in one of this machine's slots. An answer that nobody waits for changes nothing, unless it
    /// reports a candidate of this session that exists after all.
    pub(crate) fn answered(&mut self, context: &Context<'_>, id: OpId, answer: &Answer) -> Discovery {
        if let Some(pending) = take(&mut self.pending, id) {
            let sent = pending.sent;
            let discovery = self.queue_answered(context, pending, answer);
            self.heard(context, sent, answer);
            return discovery;
        }
        if let Some(pending) = take(&mut self.sweep, id) {
            self.sweep_answered(context.now, pending.kind, answer);
        } else if let Some(pending) = take(&mut self.beat, id) {
            self.beat_answered(context, &pending, answer);
            self.heard(context, pending.sent, answer);
        } else if let (Slot::Election, Answer::Done(Reply::Queue(QueueReply::Entered(candidate)))) = (id.slot, answer) {
            self.entered(*candidate);
        }
        Discovery::default()
    }

    /// Handles a fired watch. If an answer is pending for it, the answer is only marked as out of date.
    pub(crate) fn noticed(&mut self, id: OpId, notice: Notice) {
        if let Some(pending) = self.pending.as_mut().filter(|pending| pending.id == id) {
            pending.dirty = !Mutant::EarlyNoticeIgnored.lives();
            return;
        }
        let own_is_ignored = Mutant::OwnDeletionUnnoticed.lives() && self.watches_own();
        let Some(watch) = self.watch.take_if(|watch| watch.id == id && !own_is_ignored) else { return };
        self.look_again();
        if Mutant::PredecessorGoneLeads.lives() && self.lowest() > Some(watch.candidate) {
            self.look = false;
            self.view.iter_mut().for_each(|view| view.predecessor = None);
        }
        if notice == Notice::Deleted && self.lowest() == Some(watch.candidate) {
            self.forget(watch.candidate);
        }
    }

    fn queue_answered(&mut self, context: &Context<'_>, pending: Pending<Ask>, answer: &Answer) -> Discovery {
        if *answer == Answer::Unknown && pending.kind.is_write() {
            self.doubt = Doubt::Unsure;
            return Discovery::default();
        }
        self.look |= pending.dirty;
        if proves_session(answer) {
            self.extend(validity(context, pending.sent));
        }
        match pending.kind {
            Ask::Enter => self.enter_answered(context.now, answer),
            Ask::Sync => self.sync_answered(context.now, answer),
            Ask::List { settles } => self.list_answered(context.now, settles, pending.dirty, answer),
            Ask::Inspect { candidate, watch } => {
                let armed = Watch { candidate, id: pending.id };
                return self.inspect_answered(context, armed, watch && !pending.dirty, answer);
            }
            Ask::Claim { candidate, incarnation } => {
                let claim = Claim { candidate, incarnation, sent: pending.sent };
                return self.claim_answered(context, &claim, answer);
            }
        }
        Discovery::default()
    }

    fn stands_first(&self) -> bool {
        !self.own.is_empty() && self.view.as_ref().is_some_and(|view| view.predecessor.is_none())
    }

    /// Notes that a server has heard this node, which matters while it stands first.
    fn heard(&mut self, context: &Context<'_>, sent: Time, answer: &Answer) {
        if self.stands_first() && matches!(answer, Answer::Done(_)) {
            self.contacts.answered(context, self.timing, sent);
        }
    }

    fn enter_answered(&mut self, now: Time, answer: &Answer) {
        match answer {
            Answer::Done(Reply::Queue(QueueReply::Entered(candidate))) => {
                self.backoff.clear();
                self.entered(*candidate);
            }
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => self.backoff.fail(now),
        }
    }

    /// Notes a candidate that was requested, now or long ago. Only candidates of the current session count.
    fn entered(&mut self, candidate: Candidate) {
        if self.guid.is_none() || candidate.guid != self.guid && !Mutant::FormerCreateAdopted.lives() {
            return;
        }
        if let Err(place) = self.own.binary_search(&candidate.sequence) {
            self.own.insert(place, candidate.sequence);
            self.look_again();
        }
    }

    fn sync_answered(&mut self, now: Time, answer: &Answer) {
        match answer {
            Answer::Done(Reply::Synced) => {
                self.backoff.clear();
                if self.doubt == Doubt::Unsure {
                    self.doubt = Doubt::Synced;
                }
            }
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => self.backoff.fail(now),
        }
    }

    fn list_answered(&mut self, now: Time, settles: bool, dirty: bool, answer: &Answer) {
        match answer {
            Answer::Done(Reply::Queue(QueueReply::Candidates { candidates, skipped })) => {
                self.backoff.clear();
                let expected = !self.own.is_empty();
                self.listed(candidates, *skipped);
                if !self.own.is_empty() {
                    self.absence.clear();
                } else if expected {
                    self.absence.fail(now);
                }
                self.look = dirty;
                if settles && (self.doubt == Doubt::Synced || Mutant::DoubtListedWithoutSync.lives()) {
                    self.doubt = Doubt::Sure;
                }
            }
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => self.backoff.fail(now),
        }
    }

    fn listed(&mut self, candidates: &[Candidate], skipped: u32) {
        let held = self.lowest().filter(|_| self.term.is_some());
        self.ownerless.keep_listed(candidates);
        let ownerless = &self.ownerless;
        let standing = || candidates.iter().filter(|one| !ownerless.contains(**one));
        self.own.clear();
        self.own.extend(standing().filter(|one| one.guid == self.guid && one.guid.is_some()).map(|one| one.sequence));
        self.own.sort_unstable();
        let own = self.lowest();
        let is_stray = |one: &&Candidate| self.former.iter().any(|former| one.guid == Some(former.guid));
        let view = View {
            head: standing().min().copied(),
            predecessor: standing().filter(|one| Some(**one) < own).max().copied(),
            strays: candidates.iter().filter(is_stray).copied().collect::<Vec<_>>(),
            mixed: standing().any(Candidate::is_foreign),
            skipped,
        };
        if held.is_some() && (own != held || view.predecessor.is_some()) {
            self.step_down();
        }
        let target = view.predecessor.or(own);
        self.watch.take_if(|watch| Some(watch.candidate) != target);
        self.head = match &self.head {
            Head::Known { candidate, participant } if Some(*candidate) == view.head => {
                Head::Known { candidate: *candidate, participant: Arc::clone(participant) }
            }
            Head::Known { .. } | Head::Unread | Head::Unknown => Head::Unread,
        };
        self.view = Some(view);
        if !self.stands_first() {
            self.contacts.clear();
        }
    }

    fn inspect_answered(&mut self, context: &Context<'_>, target: Watch, armed: bool, answer: &Answer) -> Discovery {
        match answer {
            Answer::Done(Reply::Queue(QueueReply::Candidate { owner, participant })) => {
                self.backoff.clear();
                return self.inspected(context, target, armed, *owner, participant);
            }
            Answer::Refused(Refusal::Missing) => {
                self.backoff.clear();
                self.gone(target.candidate);
            }
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => self.backoff.fail(context.now),
        }
        Discovery::default()
    }

    fn inspected(
        &mut self,
        context: &Context<'_>,
        target: Watch,
        armed: bool,
        owner: Session,
        participant: &Arc<str>,
    ) -> Discovery {
        if owner == Session::NOBODY && self.ownerless.add(target.candidate) {
            self.forget(target.candidate);
            self.look_again();
            return Discovery { ownerless: Some(target.candidate), ..Discovery::default() };
        }
        let is_own = self.lowest() == Some(target.candidate);
        if is_own && !owns(context.standing, owner) {
            return Discovery { session_is_wrong: true, ..Discovery::default() };
        }
        if self.view.as_ref().is_some_and(|view| view.head == Some(target.candidate)) {
            self.head = Head::Known { candidate: target.candidate, participant: Arc::clone(participant) };
        }
        if armed {
            self.watch = Some(target);
        }
        Discovery::default()
    }

    /// Notes that a candidate does not exist.
    fn gone(&mut self, candidate: Candidate) {
        let is_head = self.view.as_ref().is_some_and(|view| view.head == Some(candidate));
        let is_predecessor = self.view.as_ref().is_some_and(|view| view.predecessor == Some(candidate));
        if is_head && !is_predecessor {
            self.head = Head::Unknown;
        }
        if is_predecessor {
            self.look = true;
            if Mutant::PredecessorGoneEntersAnew.lives() {
                self.own.clear();
                self.look = false;
            }
        }
        self.forget(candidate);
    }

    fn claim_answered(&mut self, context: &Context<'_>, claim: &Claim, answer: &Answer) -> Discovery {
        match answer {
            Answer::Done(Reply::Queue(QueueReply::Claimed(epoch))) => {
                self.backoff.clear();
                self.claimed(context, claim, *epoch);
            }
            Answer::Refused(Refusal::CandidateGone) => {
                self.backoff.clear();
                self.forget(claim.candidate);
            }
            Answer::Refused(Refusal::Missing | Refusal::Exists) => {
                self.backoff.fail(context.now);
                return Discovery { record_is_wrong: true, ..Discovery::default() };
            }
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => self.backoff.fail(context.now),
        }
        Discovery::default()
    }

    /// Handles a committed claim. It makes a term only if nothing happened meanwhile and some of its validity is left.
    fn claimed(&mut self, context: &Context<'_>, claim: &Claim, epoch: Epoch) {
        let until = self.proved(context, claim.sent);
        let undisturbed = !self.look && self.watches_own() && self.lowest() == Some(claim.candidate);
        if undisturbed && context.now < until {
            let of_candidate = Epoch(claim.candidate.sequence.unsigned_abs());
            let epoch = if Mutant::EpochOfCandidate.lives() { of_candidate } else { epoch };
            let fence = Fence { incarnation: claim.incarnation, epoch };
            let beat_at = claim.sent + Config::heartbeat(context.standing.timeout);
            self.term = Some(Term { fence, until, beat_at });
        } else {
            self.look = true;
        }
        if until <= context.now {
            self.backoff.fail(context.now);
        }
    }

    fn beat_answered(&mut self, context: &Context<'_>, pending: &Pending<Candidate>, answer: &Answer) {
        match answer {
            Answer::Done(Reply::Queue(QueueReply::Beaten)) => {
                self.extend(self.proved(context, pending.sent));
            }
            Answer::Refused(Refusal::CandidateGone) if Mutant::OwnDeletionUnnoticed.lives() => {}
            Answer::Refused(Refusal::CandidateGone) => self.forget(pending.kind),
            Answer::Unknown => self.doubt = Doubt::Unsure,
            Answer::Done(_) | Answer::Refused(_) => {}
        }
    }

    /// Time until which the last write, sent at `sent` and committed, proves that the session lives.
    fn proved(&self, context: &Context<'_>, sent: Time) -> Time {
        if Mutant::DeadlineFromAnswer.lives() {
            validity(context, context.now)
        } else if Mutant::SilenceForgotten.lives() {
            validity(context, sent)
        } else {
            self.contacts.proved(context, self.timing, sent).unwrap_or(sent)
        }
    }

    /// Extends the term: a committed write of this session proves the session until then.
    fn extend(&mut self, until: Time) {
        if let Some(term) = &mut self.term {
            term.until = term.until.max(until);
        }
    }

    fn sweep_answered(&mut self, now: Time, candidate: Candidate, answer: &Answer) {
        match answer {
            Answer::Done(Reply::Queue(QueueReply::Deleted)) | Answer::Refused(Refusal::Missing) => {
                self.sweep_backoff.clear();
                if let Some(view) = &mut self.view {
                    view.strays.retain(|stray| *stray != candidate);
                }
                self.forget(candidate);
                self.look_again();
            }
            Answer::Unknown => self.doubt = Doubt::Unsure,
            Answer::Done(_) | Answer::Refused(_) => self.sweep_backoff.fail(now),
        }
    }

    /// Forgets a candidate that does not exist any more. If the term stands on it, the term is over.
    fn forget(&mut self, candidate: Candidate) {
        if candidate.guid != self.guid {
            return;
        }
        if self.lowest() == Some(candidate) {
            self.step_down();
        }
        self.own.retain(|sequence| *sequence != candidate.sequence);
        // A lagging server may still list it; it has to be read again before anything is built on it.
        self.watch.take_if(|watch| watch.candidate == candidate);
        if self.own.is_empty() {
            self.contacts.clear();
        }
        self.look_again();
    }
}

/// A claim that was answered.
struct Claim {
    candidate: Candidate,
    incarnation: Incarnation,
    sent: Time,
}

/// True if something other than a committed write proves that the session lives. Only mutants think so.
fn proves_session(answer: &Answer) -> bool {
    match answer {
        Answer::Done(Reply::Queue(QueueReply::Candidates { .. } | QueueReply::Candidate { .. })) => {
            Mutant::ReadExtendsTerm.lives()
        }
        Answer::Done(Reply::Synced) => Mutant::SyncExtendsTerm.lives(),
        Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => false,
    }
}

/// End of the time that a contact proves a session, if all servers of the store hear of it without delay.
fn validity(context: &Context<'_>, sent: Time) -> Time {
    context.config.validity(context.standing.timeout).map_or(sent, |validity| sent + validity)
}
