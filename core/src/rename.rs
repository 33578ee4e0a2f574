//! Renaming: numbers and times in a state that matter by identity, order or distance, but not by their values.
//!
//! Two states that differ only in such names behave alike. An explorer of states gives them canonical names first, or
//! it never sees any state twice. [`Rename`] visits every name in nodes, in the store's machine and in the messages
//! between them, so a whole world can be renamed consistently. [`Canonical`] has the canonical names for everything
//! that one node knows.

mod canonical;
mod messages;

pub use canonical::{Canonical, ORIGIN, Ranks};

use alloc::vec::Vec;

use crate::{Candidate, Guid, Incarnation, Link, OpId, Run, Session, Time, Timer, Token};

/// A value that contains names.
pub trait Rename {
    /// Shows every name to `renamer`, which may change it. Equal states show their names in the same order.
    fn rename(&mut self, renamer: &mut dyn Renamer);
}

/// Uses of a revision of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RevisionKind {
    /// Epoch of a term: compared with other epochs.
    Epoch,
    /// Creation of an entry: compared with other creations of the same node. The session in the entry's name is shown
    /// before it.
    Created,
    /// Newest revision that a server shows or a client has seen: compared with its kind and with
    /// [`Written`](Self::Written).
    Seen,
    /// Last change of something: compared with [`Seen`](Self::Seen).
    Written,
}

/// Uses of a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimeKind {
    /// A node wants to wake then.
    Deadline(Timer),
    /// Something ends then, without waking anybody.
    Limit,
    /// Something happened then; its distance matters.
    Past,
}

/// A visitor of names. By default it leaves each name alone.
pub trait Renamer {
    /// Announces that the operations which follow belong to the client of this session. Only the store mixes clients.
    fn client(&mut self, _session: Session) {}
    /// Id of an operation.
    fn operation(&mut self, _id: &mut OpId) {}
    /// The present link, and the number of operations issued.
    fn issued(&mut self, _link: &mut Link, _count: &mut u32) {}
    /// A life of a service.
    fn run(&mut self, _run: &mut Run) {}
    /// The newest life of a service, and whether it goes on.
    fn last_run(&mut self, _run: &mut Run, _lives: bool) {}
    /// A revision of the store.
    fn revision(&mut self, _kind: RevisionKind, _revision: &mut u64) {}
    /// A session; 0 stands for none. Sessions of one client are compared by their order.
    fn session(&mut self, _session: &mut Session) {}
    /// Number of the newest session.
    fn last_session(&mut self, _newest: &mut u64) {}
    /// Sequence number of a candidate.
    fn sequence(&mut self, _sequence: &mut i64) {}
    /// Sequence number of the next candidate.
    fn next_sequence(&mut self, _next: &mut i64) {}
    /// Guid of a contender, compared for equality only.
    fn guid(&mut self, _guid: &mut Guid) {}
    /// Token of a lease, compared for equality only.
    fn token(&mut self, _token: &mut Token) {}
    /// Incarnation of the store's data, known or offered, compared for equality only.
    fn incarnation(&mut self, _incarnation: &mut Incarnation) {}
    /// Number of attempts at a lease so far, from which tokens were made.
    fn attempts(&mut self, _attempts: &mut u32) {}
    /// Random bits of a connection, from which names were made.
    fn entropy(&mut self, _entropy: &mut u64) {}
    /// A point in time.
    fn time(&mut self, _moment: TimeKind, _at: &mut Time) {}
}

impl Rename for Candidate {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        renamer.sequence(&mut self.sequence);
        if let Some(guid) = &mut self.guid {
            renamer.guid(guid);
        }
    }
}

impl<T: Rename> Rename for Option<T> {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        if let Some(named) = self {
            named.rename(renamer);
        }
    }
}

impl<T: Rename> Rename for Vec<T> {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.iter_mut().for_each(|named| named.rename(renamer));
    }
}
