//! What in a state is only a name: numbers and instants that matter by identity, order or distance, never by themselves.
//!
//! Two states that differ in such names alone behave alike. Whoever explores states, or compares them, gives them canonical
//! names first, else no state is ever seen twice. [`Named`] walks through everything that has names, nodes, the store's machine
//! and the messages between them, so that a whole world can be renamed consistently; [`Canonical`] has the canonical names of
//! what one node knows.

mod canonical;
mod messages;

pub use canonical::{Canonical, ORIGIN, Ranks};

use alloc::vec::Vec;

use crate::{Candidate, Guid, Link, OpId, Run, Session, Time, Timer};

/// Something that names occur in.
pub trait Named {
    /// Shows every name to `names`, which may change it. The order is the same for equal states.
    fn names(&mut self, names: &mut dyn Names);
}

/// Why a revision of the store matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// As a term's epoch: compared with other epochs.
    Epoch,
    /// As what created an entry: compared with what created others of the same node. The session in its name comes before.
    Created,
    /// As what a server shows or a client has seen: compared with its like and with [`Written`](Self::Written).
    Seen,
    /// As what last changed something: compared with [`Seen`](Self::Seen).
    Written,
}

/// Why an instant matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    /// A node wants to be woken then.
    Deadline(Timer),
    /// Something ends then, and nobody is woken for it.
    Limit,
    /// Something happened then: what matters is how long ago.
    Past,
}

/// Meets names. What a namer is not interested in, it leaves alone.
pub trait Names {
    /// The names of operations that follow are those of the client of this session (only the store mixes them).
    fn client(&mut self, _session: Session) {}
    /// An operation.
    fn operation(&mut self, _id: &mut OpId) {}
    /// The present link, and the count of operations that were issued.
    fn issued(&mut self, _link: &mut Link, _count: &mut u32) {}
    /// A life of a service.
    fn run(&mut self, _run: &mut Run) {}
    /// The newest life of a service, and whether it has not ended.
    fn last_run(&mut self, _run: &mut Run, _lives: bool) {}
    /// A revision of the store.
    fn revision(&mut self, _kind: Revision, _revision: &mut u64) {}
    /// A session; that of nobody is 0. Those of one client are compared by their order.
    fn session(&mut self, _session: &mut Session) {}
    /// The newest session's number.
    fn last_session(&mut self, _newest: &mut u64) {}
    /// A candidate's sequence number.
    fn sequence(&mut self, _sequence: &mut i64) {}
    /// The sequence number of the next candidate.
    fn next_sequence(&mut self, _next: &mut i64) {}
    /// A contender's name, compared for equality only.
    fn guid(&mut self, _guid: &mut Guid) {}
    /// The random bits of a connection, from which names were drawn.
    fn entropy(&mut self, _entropy: &mut u64) {}
    /// A point in time.
    fn time(&mut self, _moment: Moment, _at: &mut Time) {}
}

impl Named for Candidate {
    fn names(&mut self, names: &mut dyn Names) {
        names.sequence(&mut self.sequence);
        if let Some(guid) = &mut self.guid {
            names.guid(guid);
        }
    }
}

impl<T: Named> Named for Option<T> {
    fn names(&mut self, names: &mut dyn Names) {
        if let Some(named) = self {
            named.names(names);
        }
    }
}

impl<T: Named> Named for Vec<T> {
    fn names(&mut self, names: &mut dyn Names) {
        self.iter_mut().for_each(|named| named.names(names));
    }
}
