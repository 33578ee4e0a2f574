//! Renaming of the store's state. Its times are not renamed: they keep their places between ticks, which
//! [`canonical`](super::canonical) handles.

use alloc::sync::Arc;

use super::Machine;
use super::directory::Entries;
use super::exchange::Ask;
use super::queue::Queue;
use super::replica::{Replica, View};
use super::session::Life;
use super::tree::Tree;
use super::watch::Target;
use super::wish::WishPlace;
use crate::rename::{Rename, Renamer, RevisionKind};

impl Rename for Machine {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        Arc::make_mut(&mut self.tree).rename(renamer);
        if let Some(tree) = &mut self.replica {
            Arc::make_mut(tree).rename(renamer);
        }
        self.servers.rename(renamer);
        renamer.last_session(&mut self.newest);
        let sessions = core::mem::take(&mut self.sessions);
        self.sessions = sessions
            .into_iter()
            .map(|(mut session, mut life)| {
                renamer.client(session);
                renamer.session(&mut session);
                life.rename(renamer);
                (session, life)
            })
            .collect();
    }
}

impl Rename for Life {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        renamer.revision(RevisionKind::Seen, &mut self.seen);
        for watch in &mut self.watches.0 {
            renamer.operation(&mut watch.id);
            watch.target.rename(renamer);
        }
    }
}

impl Rename for Target {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Candidate(candidate) => candidate.rename(renamer),
            Self::Entry(_, key) => key.rename(renamer),
            Self::Directory(_) | Self::Lease | Self::Wish => {}
        }
    }
}

impl Rename for Replica {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match &mut self.view {
            View::Current => {}
            View::Lagging(tree) | View::Cut(tree) => Arc::make_mut(tree).rename(renamer),
        }
        for held in &mut self.held {
            renamer.client(held.session);
            renamer.session(&mut held.session);
            match &mut held.what {
                Ask::Request(id, request) => {
                    renamer.operation(id);
                    request.rename(renamer);
                }
                Ask::Close => {}
            }
        }
    }
}

impl Rename for Tree {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        renamer.revision(RevisionKind::Seen, &mut self.revision);
        self.queue.rename(renamer);
        if let Some(lease) = &mut self.lease {
            lease.rename(renamer);
            renamer.revision(RevisionKind::Written, &mut self.given_up);
        }
        self.term.rename(renamer);
        self.workers.rename(renamer);
        self.coordinators.rename(renamer);
        self.wish.rename(renamer);
    }
}

impl Rename for Queue {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        renamer.next_sequence(&mut self.created);
        for contender in &mut self.contenders {
            contender.candidate.rename(renamer);
            renamer.session(&mut contender.owner);
            renamer.revision(RevisionKind::Written, &mut contender.written);
        }
    }
}

impl Rename for Entries {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        renamer.revision(RevisionKind::Written, &mut self.changed);
        for entry in &mut self.entries {
            entry.member.rename(renamer);
            renamer.session(&mut entry.owner);
            renamer.revision(RevisionKind::Written, &mut entry.written);
        }
    }
}

impl Rename for WishPlace {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        let (changed, wish) = self.parts_mut();
        // A revision that was never given out is not in the order of the others.
        if *changed != 0 {
            renamer.revision(RevisionKind::Written, changed);
        }
        if let Some(wish) = wish {
            wish.rename(renamer);
        }
    }
}
