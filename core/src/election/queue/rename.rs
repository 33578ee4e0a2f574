//! Renaming of the queue's state.

use super::{Ask, Former, Head, Queue, Term, View, Watch};
use crate::Timer;
use crate::rename::{Rename, Renamer, TimeKind};

impl Rename for Queue {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        let Self {
            timing: _,
            guid,
            own,
            former,
            ownerless,
            doubt: _,
            look: _,
            view,
            head,
            watch,
            term,
            pending,
            sweep,
            beat,
            contacts,
            backoff,
            sweep_backoff,
            absence,
            relist,
        } = self;
        if let Some(guid) = guid {
            renamer.guid(guid);
        }
        own.iter_mut().for_each(|sequence| renamer.sequence(sequence));
        former.rename(renamer);
        ownerless.rename(renamer);
        view.rename(renamer);
        head.rename(renamer);
        watch.rename(renamer);
        term.rename(renamer);
        pending.rename(renamer);
        sweep.rename(renamer);
        beat.rename(renamer);
        contacts.rename(renamer);
        backoff.rename(renamer);
        sweep_backoff.rename(renamer);
        absence.rename(renamer);
        relist.rename(renamer);
    }
}

impl Rename for Former {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        renamer.guid(&mut self.guid);
        renamer.time(TimeKind::Limit, &mut self.until);
    }
}

impl Rename for View {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.head.rename(renamer);
        self.predecessor.rename(renamer);
        self.strays.rename(renamer);
    }
}

impl Rename for Head {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Known { candidate, .. } => candidate.rename(renamer),
            Self::Unread | Self::Unknown => {}
        }
    }
}

impl Rename for Watch {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.candidate.rename(renamer);
        renamer.operation(&mut self.id);
    }
}

impl Rename for Term {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.fence.rename(renamer);
        renamer.time(TimeKind::Deadline(Timer::Validity), &mut self.until);
        renamer.time(TimeKind::Deadline(Timer::Beat), &mut self.beat_at);
    }
}

impl Rename for Ask {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Inspect { candidate, .. } => candidate.rename(renamer),
            Self::Claim { candidate, incarnation } => {
                candidate.rename(renamer);
                renamer.incarnation(incarnation);
            }
            Self::Enter | Self::Sync | Self::List { .. } => {}
        }
    }
}
