//! Renaming of the queue's state.

use super::{Ask, Former, Head, Queue, Term, View, Watch};
use crate::Timer;
use crate::names::{Moment, Named, Names};

impl Named for Queue {
    fn names(&mut self, names: &mut dyn Names) {
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
            relist_at,
        } = self;
        if let Some(guid) = guid {
            names.guid(guid);
        }
        own.iter_mut().for_each(|sequence| names.sequence(sequence));
        former.names(names);
        ownerless.names(names);
        view.names(names);
        head.names(names);
        watch.names(names);
        term.names(names);
        pending.names(names);
        sweep.names(names);
        beat.names(names);
        contacts.names(names);
        backoff.names(names);
        sweep_backoff.names(names);
        absence.names(names);
        if let Some(at) = relist_at {
            names.time(Moment::Deadline(Timer::Relist), at);
        }
    }
}

impl Named for Former {
    fn names(&mut self, names: &mut dyn Names) {
        names.guid(&mut self.guid);
        names.time(Moment::Limit, &mut self.until);
    }
}

impl Named for View {
    fn names(&mut self, names: &mut dyn Names) {
        self.head.names(names);
        self.predecessor.names(names);
        self.strays.names(names);
    }
}

impl Named for Head {
    fn names(&mut self, names: &mut dyn Names) {
        match self {
            Self::Known { candidate, .. } => candidate.names(names),
            Self::Unread | Self::Unknown => {}
        }
    }
}

impl Named for Watch {
    fn names(&mut self, names: &mut dyn Names) {
        self.candidate.names(names);
        names.operation(&mut self.id);
    }
}

impl Named for Term {
    fn names(&mut self, names: &mut dyn Names) {
        self.fence.names(names);
        names.time(Moment::Deadline(Timer::Validity), &mut self.until);
        names.time(Moment::Deadline(Timer::Beat), &mut self.beat_at);
    }
}

impl Named for Ask {
    fn names(&mut self, names: &mut dyn Names) {
        match self {
            Self::Inspect { candidate, .. } | Self::Claim { candidate, .. } => candidate.names(names),
            Self::Enter | Self::Sync | Self::List { .. } => {}
        }
    }
}
