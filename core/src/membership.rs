//! This node's own entry in a directory: wanted against actual.

use alloc::vec::Vec;

use crate::mutant::Mutant;
use crate::pass::{Backoff, Pass, Pending, Soonest, Standing, remember};
use crate::rename::{Rename, Renamer, RevisionKind};
use crate::store::{Answer, DirectoryReply, DirectoryRequest, Refusal, Reply, Request};
use crate::{Directory, Epoch, OpId, Session, Sink, Slot, Time};

/// The part of an entry that can change; id and address never do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    pub(crate) epoch: Option<Epoch>,
}

/// Reconciliation of one entry. Each step passes in the wanted entry, so that nothing acts on an older wish.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Membership {
    directory: Directory,
    known: Known,
    /// True if a write of unknown outcome may still happen.
    unsure: bool,
    /// Earlier sessions of this process that may have left an entry.
    former: Vec<Session>,
    watch: Option<OpId>,
    pending: Option<Pending<Ask>>,
    backoff: Backoff,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Known {
    Absent,
    Present(Entry),
    /// It has to be read.
    Unread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Ask {
    Sync,
    Verify,
    Join(Entry),
    Leave,
    LeaveFormer(Session),
}

impl Ask {
    /// True if it may still happen after nobody waits for it any more, and would do harm.
    fn is_write(self) -> bool {
        match self {
            Self::Join(_) | Self::Leave => true,
            // No two sessions share a name, so repeating it does no harm.
            Self::LeaveFormer(_) | Self::Sync | Self::Verify => false,
        }
    }
}

impl Membership {
    pub(crate) fn new(directory: Directory) -> Self {
        Self {
            directory,
            known: Known::Absent,
            unsure: false,
            former: Vec::new(),
            watch: None,
            pending: None,
            backoff: Backoff::default(),
        }
    }

    pub(crate) fn suspend(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.doubt(pending.kind);
        }
        self.watch = None;
        self.backoff.clear();
        if self.known != Known::Absent {
            self.known = if Mutant::EntryMadeAgain.lives() { Known::Absent } else { Known::Unread };
        }
    }

    /// Handles the end of the session: an entry that it may have left is deleted by its name.
    pub(crate) fn lose(&mut self, session: Session) {
        self.suspend();
        if self.known != Known::Absent || self.unsure {
            remember(&mut self.former, session);
        }
        self.known = Known::Absent;
        self.unsure = false;
    }

    /// Rereads the entry although nothing happened.
    pub(crate) fn reread(&mut self) {
        if self.known != Known::Absent {
            self.known = Known::Unread;
            self.dirty();
        }
    }

    fn dirty(&mut self) {
        if let Some(pending) = &mut self.pending {
            pending.dirty = true;
        }
    }

    pub(crate) fn noticed(&mut self, id: OpId) {
        if self.pending.as_ref().is_some_and(|pending| pending.id == id) {
            self.dirty();
        } else if self.watch.take_if(|watch| *watch == id).is_some() {
            self.known = Known::Unread;
            self.dirty();
        }
    }

    /// Handles an answer. Returns true if it shows that the session is not the believed one.
    pub(crate) fn answered(&mut self, now: Time, standing: &Standing, id: OpId, answer: &Answer) -> bool {
        let Some(pending) = self.pending.take_if(|pending| pending.id == id) else { return false };
        if *answer == Answer::Unknown && pending.kind.is_write() {
            self.doubt(pending.kind);
            return false;
        }
        match (pending.kind, answer) {
            (Ask::Verify, Answer::Done(Reply::Directory(DirectoryReply::Registered { owner, epoch }))) => {
                self.backoff.clear();
                if *owner != standing.session {
                    return true;
                }
                self.known = if pending.dirty { Known::Unread } else { Known::Present(Entry { epoch: *epoch }) };
                self.watch = Some(pending.id).filter(|_| !pending.dirty);
            }
            (Ask::Verify, Answer::Refused(Refusal::Missing)) => {
                // The watch of an earlier reading has fired: its notice brings nothing new, however late.
                self.watch = None;
                self.settled(Known::Absent);
            }
            (Ask::Sync, Answer::Done(Reply::Synced)) => {
                self.unsure = false;
                self.settled(Known::Unread);
            }
            (
                Ask::Join(_),
                Answer::Done(Reply::Directory(DirectoryReply::Joined)) | Answer::Refused(Refusal::Exists),
            ) => {
                self.settled(Known::Unread);
            }
            (Ask::Leave, Answer::Done(Reply::Directory(DirectoryReply::Left)) | Answer::Refused(Refusal::Missing)) => {
                self.watch = None;
                self.settled(Known::Absent);
            }
            (
                Ask::LeaveFormer(session),
                Answer::Done(Reply::Directory(DirectoryReply::Left)) | Answer::Refused(Refusal::Missing),
            ) => {
                self.former.retain(|former| *former != session);
                self.backoff.clear();
            }
            (_, Answer::Done(_) | Answer::Refused(_) | Answer::Unknown) => self.backoff.fail(now),
        }
        false
    }

    fn settled(&mut self, known: Known) {
        self.known = known;
        self.backoff.clear();
    }

    pub(crate) fn expire(&mut self, now: Time) {
        if let Some(pending) = self.pending.take_if(|pending| pending.deadline <= now) {
            self.doubt(pending.kind);
        }
        self.backoff.holds(now);
    }

    /// Notes that the outcome of an operation is unknown, or still to come.
    fn doubt(&mut self, ask: Ask) {
        if Mutant::UnconfirmedLeaveDone.lives() && ask == Ask::Leave {
            return self.settled(Known::Absent);
        }
        self.unsure |= ask.is_write();
    }

    pub(crate) fn advance<S: Sink>(&mut self, pass: &mut Pass<'_, S>, wanted: Option<Entry>) {
        if self.pending.is_some() {
            return;
        }
        let Some(ask) = self.next(wanted) else { return };
        let Some(standing) = pass.connected() else { return };
        if self.backoff.holds(pass.now) {
            return;
        }
        let request = self.request(ask, standing.session);
        self.pending = Some(pass.send(&standing, Slot::Membership(self.directory), ask, request));
    }

    fn next(&self, wanted: Option<Entry>) -> Option<Ask> {
        if self.unsure {
            return Some(Ask::Sync);
        }
        match (self.known, wanted) {
            (Known::Unread, _) => Some(Ask::Verify),
            (Known::Absent, Some(entry)) => Some(Ask::Join(entry)),
            (Known::Present(entry), Some(wanted)) if entry == wanted => self.leave_former(),
            (Known::Present(_), _) => Some(Ask::Leave),
            (Known::Absent, None) => self.leave_former(),
        }
    }

    fn leave_former(&self) -> Option<Ask> {
        self.former.first().map(|session| Ask::LeaveFormer(*session))
    }

    fn request(&self, ask: Ask, session: Session) -> Request {
        let directory = self.directory;
        match ask {
            Ask::Sync => Request::Sync,
            Ask::Verify => Request::Directory(DirectoryRequest::Verify { directory, session }),
            Ask::Join(Entry { epoch }) => Request::Directory(DirectoryRequest::Join { directory, session, epoch }),
            Ask::Leave => Request::Directory(DirectoryRequest::Leave { directory, session }),
            Ask::LeaveFormer(session) => Request::Directory(DirectoryRequest::Leave { directory, session }),
        }
    }

    /// True if this session has no entry, for certain.
    pub(crate) fn is_absent(&self) -> bool {
        self.known == Known::Absent
            && !self.unsure
            && !self.pending.as_ref().is_some_and(|pending| matches!(pending.kind, Ask::Join(_)))
    }

    /// True if the entry exists, as read.
    pub(crate) fn is_present(&self) -> bool {
        matches!(self.known, Known::Present(_))
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

    /// True if nothing is pending or scheduled.
    pub(crate) fn is_quiet(&self) -> bool {
        self.pending.is_none() && self.backoff.deadline().is_none()
    }

    /// True if the entry is as wanted, provided that it is quiet.
    pub(crate) fn agrees(&self, wanted: Option<Entry>) -> bool {
        self.next(wanted).is_none()
    }
}

impl Rename for Membership {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match &mut self.known {
            Known::Present(entry) => entry.rename(renamer),
            Known::Absent | Known::Unread => {}
        }
        self.former.iter_mut().for_each(|session| renamer.session(session));
        if let Some(watch) = &mut self.watch {
            renamer.operation(watch);
        }
        self.pending.rename(renamer);
        self.backoff.rename(renamer);
    }
}

impl Rename for Entry {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        if let Some(epoch) = &mut self.epoch {
            renamer.revision(RevisionKind::Epoch, &mut epoch.0);
        }
    }
}

impl Rename for Ask {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Join(entry) => entry.rename(renamer),
            Self::LeaveFormer(session) => renamer.session(session),
            Self::Sync | Self::Verify | Self::Leave => {}
        }
    }
}

#[cfg(test)]
mod tests;
