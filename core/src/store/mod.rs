//! The coordination store: the words a node uses with it, and the store itself as a pure machine.
//!
//! # The model
//! [`Machine`] is the coordination store of one cluster, reduced to what can be seen of it from outside, with the
//! semantics of Apache ZooKeeper 3.8. It is the embedded store, the store of every simulation and of the model checker,
//! and the yardstick that adapters of real servers are held to.
//!
//! ```text
//!                       one committed tree                          what each server shows of it
//!   writes ──► queue · term · beat · workers · coordinators ──► Current | Lagging(older) | Cut(older) ──► reads, watches
//!              · settings, stamped with rising revisions
//! ```
//!
//! **Tree.** An election queue of candidates, two directories of members, the records of term and beat, the settings.
//! Each commit that changes it has a revision (ZooKeeper: `zxid`), the next higher number; a transaction has one for
//! all it does. A candidate's sequence number is the count of names ever created in the queue: deletions do not count,
//! malformed names do. A candidate is checked and deleted by its whole name, never by its owner.
//!
//! **Sessions.** A timeout is negotiated between 2 and 20 ticks (or not bounded). A session ends when its client has
//! not been heard for longer than its timeout, *rounded up to the next whole tick*: never early, up to a tick late.
//! What it owns goes in one commit. Only [`Event::Ping`], requests and connects count as being heard: whoever drives
//! the machine sends a ping for each connected client that lives and is reached, every third of its timeout. In an
//! untimed model nothing moves the clock, and [`Fault::Expire`] ends sessions instead. What is due by `now` ends before
//! the event itself is handled.
//!
//! **Order.** One session's requests are done in the order in which they come. A notice comes before the answer of
//! whatever was done after the change that it tells of. What is pushed out counts as delivered: a driver that models
//! lost or late messages loses or delays outputs itself, and turns what it lost into [`Answer::Unknown`].
//!
//! **Watches** fire once: on a candidate or an entry (deleted, or its data changed), or on a directory (entries came or
//! went). A read of what is missing leaves none. They live with the session: on a reconnect they are set again and fire
//! if something changed since the last answer that the client saw. The newest of equal watches, same session, target
//! and [`Slot`](crate::Slot), replaces the older, so re-arming leaves nothing behind (ZooKeeper would notify both
//! requests; a node only minds the newer).
//!
//! **Servers.** [`Fault::Lag`] freezes what a server shows until it is caught up, by [`Fault::CatchUp`], a sync, a new
//! session or a write through it. [`Fault::Cut`] takes it away from the others: it answers reads and syncs from its
//! frozen view, accepts no connects, and holds writes, and what the same session sends after them. The others end the
//! sessions of its clients in time, which neither knows until [`Fault::Heal`]. What it held either reaches the others
//! then, late, or is lost with its connections. Those that are not cut are the majority, so the last one cannot be cut.
//! That a client lives a server tells the others every half tick only: what it heard in the half tick before a cut they
//! never learn. A client never sees an older view than it has seen: such a server rejects it. A write held for a
//! session that has moved to another server never happens.
//!
//! **State.** It is small, cheap to clone (what servers show is shared until it differs) and total: no event is wrong,
//! some do nothing. [`Machine::check`] holds after every event. [`Machine::canonical`] gives the form in which a model
//! checker knows a state again.
//!
//! **Left out**, since no node can tell: access control, sizes, quotas, versions of data, order of servers, revisions
//! of what changes nothing. A store that lost its data answers `Expired` to old sessions at once, where ZooKeeper turns
//! them away until they give up.

mod canonical;
mod check;
mod connect;
mod directory;
mod event;
mod exchange;
mod faults;
mod machine;
mod names;
mod output;
mod queue;
mod replica;
mod request;
mod session;
mod timing;
mod tree;
mod watch;

pub use check::Broken;
pub use event::{Act, Client, Event, Fault, Server};
pub use machine::Machine;
pub use output::{Output, Rejection, Sink};
pub use request::{
    Answer, DirectoryReply, DirectoryRequest, Effect, Notice, QueueReply, QueueRequest, Refusal, Reply, Request,
    SettingsRequest, TermRecord, TermRequest,
};
pub use timing::Timing;

#[cfg(test)]
mod tests;
