//! Renaming of the state of an election by a lease.

use super::{Ask, Former, Lease, Leftover, Term, View};
use crate::rename::{Rename, Renamer, TimeKind};
use crate::{Timer, Token};

impl Rename for Lease {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        let Self {
            attempts,
            view,
            look: _,
            look_at,
            watch,
            given_up: _,
            term,
            leftover,
            former,
            pending,
            release,
            beat,
            backoff,
            release_backoff,
            relist,
            rank: _,
        } = self;
        renamer.attempts(attempts);
        view.rename(renamer);
        if let Some(at) = look_at {
            renamer.time(TimeKind::Deadline(Timer::Look), at);
        }
        if let Some(id) = watch {
            renamer.operation(id);
        }
        term.rename(renamer);
        leftover.rename(renamer);
        former.rename(renamer);
        pending.rename(renamer);
        release.rename(renamer);
        beat.rename(renamer);
        backoff.rename(renamer);
        release_backoff.rename(renamer);
        relist.rename(renamer);
    }
}

impl Rename for View {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Stray(token) => token.rename(renamer),
            Self::Unread | Self::Free | Self::Taken => {}
        }
    }
}

impl Rename for Term {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.token.rename(renamer);
        self.fence.rename(renamer);
        renamer.time(TimeKind::Deadline(Timer::Validity), &mut self.until);
        renamer.time(TimeKind::Deadline(Timer::Beat), &mut self.beat_at);
    }
}

impl Rename for Leftover {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.token.rename(renamer);
    }
}

impl Rename for Former {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.leftover.rename(renamer);
        renamer.time(TimeKind::Limit, &mut self.until);
    }
}

impl Rename for Ask {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Acquire { token } => token.rename(renamer),
            Self::Peek { .. } => {}
        }
    }
}

impl Rename for Token {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        renamer.token(self);
    }
}
