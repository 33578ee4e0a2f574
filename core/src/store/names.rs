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
use crate::names::{Named, Names, Revision};

impl Named for Machine {
    fn names(&mut self, names: &mut dyn Names) {
        Arc::make_mut(&mut self.tree).names(names);
        self.servers.names(names);
        names.last_session(&mut self.newest);
        let sessions = core::mem::take(&mut self.sessions);
        self.sessions = sessions
            .into_iter()
            .map(|(mut session, mut life)| {
                names.client(session);
                names.session(&mut session);
                life.names(names);
                (session, life)
            })
            .collect();
    }
}

impl Named for Life {
    fn names(&mut self, names: &mut dyn Names) {
        names.revision(Revision::Seen, &mut self.seen);
        for watch in &mut self.watches.0 {
            names.operation(&mut watch.id);
            watch.target.names(names);
        }
    }
}

impl Named for Target {
    fn names(&mut self, names: &mut dyn Names) {
        match self {
            Self::Candidate(candidate) => candidate.names(names),
            Self::Entry(_, key) => key.names(names),
            Self::Directory(_) => {}
        }
    }
}

impl Named for Replica {
    fn names(&mut self, names: &mut dyn Names) {
        match &mut self.view {
            View::Current => {}
            View::Lagging(tree) | View::Cut(tree) => Arc::make_mut(tree).names(names),
        }
        for held in &mut self.held {
            names.client(held.session);
            names.session(&mut held.session);
            match &mut held.what {
                Ask::Request(id, request) => {
                    names.operation(id);
                    request.names(names);
                }
                Ask::Close => {}
            }
        }
    }
}

impl Named for Tree {
    fn names(&mut self, names: &mut dyn Names) {
        names.revision(Revision::Seen, &mut self.revision);
        self.queue.names(names);
        self.term.names(names);
        self.workers.names(names);
        self.coordinators.names(names);
    }
}

impl Named for Queue {
    fn names(&mut self, names: &mut dyn Names) {
        names.next_sequence(&mut self.created);
        for contender in &mut self.contenders {
            contender.candidate.names(names);
            names.session(&mut contender.owner);
            names.revision(Revision::Written, &mut contender.written);
        }
    }
}

impl Named for Entries {
    fn names(&mut self, names: &mut dyn Names) {
        names.revision(Revision::Written, &mut self.changed);
        for entry in &mut self.entries {
            entry.member.names(names);
            names.session(&mut entry.owner);
            names.revision(Revision::Written, &mut entry.written);
        }
    }
}
