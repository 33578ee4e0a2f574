//! The wish of an operator, as a leader heeds it.
//!
//! A cluster has one record of a wish, which names the term that it concerns. Only the leader of that very term heeds
//! it: it reads the record once, watches it, and answers in the same record before it does anything. Each write names
//! the version that was read, so of several answers one counts; an answer of unknown outcome is read again.

use alloc::boxed::Box;
use alloc::format;

use crate::mutant::Mutant;
use crate::pass::{Backoff, Pass, Pending, Soonest};
use crate::rename::{Rename, Renamer};
use crate::store::{Aim, Answer, Refusal, Reply, Request, Verdict, Wish, WishReply, WishRequest};
use crate::{Fence, OpId, Sink, Slot, Time};

/// Knowledge that a leader has of the wish.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Wishes {
    /// The term in which it was read.
    term: Option<Fence>,
    stage: Stage,
    /// The watch that counts.
    watch: Option<OpId>,
    pending: Option<Pending<Ask>>,
    backoff: Backoff,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
enum Stage {
    /// The record has to be read (again).
    #[default]
    Unread,
    /// Nothing is wished of this term.
    Quiet,
    /// A wish has to be answered.
    Asked { answered: Box<Wish>, version: u64 },
    /// This term ends, and the record says so.
    Obeyed,
    /// The store denies the record. It is tried again when everything is read again.
    Denied,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Ask {
    Read,
    /// An answer, and whether it says that the wish is obeyed.
    Write {
        obeys: bool,
    },
}

impl Wishes {
    /// The connection is lost: nothing that is pending will be answered for sure, no watch is certain.
    pub(crate) fn suspend(&mut self) {
        *self = Self { term: self.term, ..Self::default() };
    }

    /// Rereads the record although nothing happened.
    pub(crate) fn reread(&mut self) {
        match self.stage {
            Stage::Obeyed => {}
            Stage::Unread | Stage::Quiet | Stage::Asked { .. } | Stage::Denied => self.look_again(),
        }
    }

    fn look_again(&mut self) {
        self.stage = Stage::Unread;
        if let Some(pending) = &mut self.pending {
            pending.dirty = true;
        }
    }

    pub(crate) fn noticed(&mut self, id: OpId) {
        if self.watch == Some(id) {
            self.watch = None;
            self.reread();
        } else if let Some(pending) = self.pending.as_mut().filter(|pending| pending.id == id) {
            pending.dirty = true;
        }
    }

    /// True if the record says that this term ends.
    pub(crate) fn ends(&self, term: Fence) -> bool {
        self.term == Some(term) && self.stage == Stage::Obeyed && !Mutant::ObeyedInWordsOnly.lives()
    }

    pub(crate) fn answered(&mut self, now: Time, id: OpId, answer: &Answer) {
        let Some(pending) = self.pending.take_if(|pending| pending.id == id) else { return };
        match (pending.kind, answer) {
            (Ask::Read, Answer::Done(Reply::Wish(reply))) => {
                self.backoff.clear();
                self.watch = Some(id).filter(|_| !pending.dirty);
                self.stage = self.stage_after(reply);
                if pending.dirty && self.stage != Stage::Obeyed {
                    self.stage = Stage::Unread;
                }
            }
            (Ask::Write { obeys }, Answer::Done(Reply::Wish(WishReply::Written { .. }))) => {
                self.backoff.clear();
                self.stage = if obeys { Stage::Obeyed } else { Stage::Unread };
            }
            (_, Answer::Refused(Refusal::Denied)) => {
                self.watch = None;
                self.stage = Stage::Denied;
            }
            // It was overtaken, or its outcome is unknown: the record tells.
            (Ask::Write { .. }, Answer::Refused(Refusal::Overtaken)) => self.stage = Stage::Unread,
            (_, Answer::Done(_) | Answer::Refused(_) | Answer::Unknown) => {
                self.stage = Stage::Unread;
                self.backoff.fail(now);
            }
        }
    }

    /// The stage that a reading of the record leads to.
    fn stage_after(&self, reply: &WishReply) -> Stage {
        let WishReply::Found { wish, version } = reply else { return Stage::Quiet };
        if self.term != Some(wish.term) && !Mutant::WishOfAnotherTermObeyed.lives() {
            return Stage::Quiet;
        }
        match &wish.verdict {
            None => Stage::Asked { answered: Box::new(answered(wish)), version: *version },
            Some(Verdict::Obeyed) => Stage::Obeyed,
            Some(Verdict::Refused { .. } | Verdict::Withdrawn) => Stage::Quiet,
        }
    }

    /// Applies the passing of time. An answer that is overdue may still count, so the record is read again.
    pub(crate) fn expire(&mut self, now: Time) {
        if self.pending.take_if(|pending| pending.deadline <= now).is_some() {
            self.stage = Stage::Unread;
        }
        self.backoff.holds(now);
    }

    /// Reads the record for the leader of `term`, and answers it.
    pub(crate) fn advance<S: Sink>(&mut self, pass: &mut Pass<'_, S>, term: Option<Fence>) {
        if self.term != term {
            *self = Self { term, ..Self::default() };
        }
        if term.is_none() || self.pending.is_some() || self.backoff.holds(pass.now) {
            return;
        }
        let Some(standing) = pass.connected() else { return };
        let (kind, request) = match &self.stage {
            Stage::Unread => (Ask::Read, WishRequest::Read { watch: true }),
            Stage::Asked { answered, version } => {
                let obeys = answered.verdict == Some(Verdict::Obeyed);
                (Ask::Write { obeys }, WishRequest::Write { wish: answered.clone(), over: Some(*version) })
            }
            Stage::Quiet | Stage::Obeyed | Stage::Denied => return,
        };
        self.pending = Some(pass.send(&standing, Slot::Wish, kind, Request::Wish(request)));
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

    /// True if it waits for this watch.
    pub(crate) fn relies_on(&self, id: OpId) -> bool {
        self.watch == Some(id)
    }

    /// True if it waits for nothing although it should.
    pub(crate) fn is_stuck(&self) -> bool {
        let quiet = self.pending.is_none() && self.backoff.deadline().is_none();
        let (due, unwatched) = match self.stage {
            Stage::Unread | Stage::Asked { .. } => (true, false),
            Stage::Quiet => (false, self.watch.is_none()),
            Stage::Obeyed | Stage::Denied => (false, false),
        };
        self.term.is_some() && quiet && (due || unwatched)
    }
}

/// The wish with its answer.
fn answered(wish: &Wish) -> Wish {
    let verdict = match &wish.aim {
        Aim::Resign => Verdict::Obeyed,
        Aim::Handover { to } => {
            Verdict::Refused { reason: format!("this leader cannot hand over to {to}: it can only resign").into() }
        }
    };
    Wish { verdict: Some(verdict), ..wish.clone() }
}

impl Rename for Wishes {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.term.rename(renamer);
        match &mut self.stage {
            Stage::Asked { answered, .. } => answered.rename(renamer),
            Stage::Unread | Stage::Quiet | Stage::Obeyed | Stage::Denied => {}
        }
        if let Some(watch) = &mut self.watch {
            renamer.operation(watch);
        }
        self.pending.rename(renamer);
        self.backoff.rename(renamer);
    }
}

impl Rename for Ask {
    fn rename(&mut self, _renamer: &mut dyn Renamer) {}
}
