//! The coordination store: the messages between a node and its store, and the store itself as a pure state machine.
//!
//! # The model
//! [`Machine`] is the coordination store of one cluster, reduced to its visible behaviour, with the semantics of Apache
//! ZooKeeper 3.8. It is the embedded store, the store of every simulation and of the model checker, and the standard to
//! which the adapters of real servers are held.
//!
//! ```text
//!                       one committed tree                          what each server shows of it
//!   writes ──► queue · term · beat · workers · coordinators ──► Current | Lagging(older) | Cut(older) ──► reads, watches
//!              · settings · wish, stamped with rising revisions
//! ```
//!
//! **Tree.** An election queue of candidates, two directories of members, the records of term and beat, the settings,
//! and the wish of an operator. Each commit that changes the tree gets the next higher revision (ZooKeeper: `zxid`); a
//! transaction gets one revision for all its changes. A candidate's sequence number is the number of names ever created
//! in the queue: deletions do not count, malformed names do. A candidate is checked and deleted by its whole name,
//! never by its owner.
//!
//! **Sessions.** A timeout is negotiated between 2 and 20 ticks (or not bounded). A session ends when its client has
//! not been heard for longer than its timeout, *rounded up to the next whole tick*: never early, up to a tick late.
//! Everything it owns goes in one commit. Only [`Event::Ping`], requests and connects count as being heard. The driver
//! of the machine sends a ping for each connected client that lives and can be reached, every third of its timeout. In
//! an untimed model nothing moves the clock, and [`Fault::Expire`] ends sessions instead. Sessions that are due by
//! `now` end before the event itself is handled.
//!
//! **Order.** Requests of one session are carried out in the order in which they arrive. The notice of a change comes
//! before the answer to any request that was carried out after the change. Pushed outputs count as delivered: a driver
//! that models lost or late messages loses or delays outputs itself, and turns lost ones into [`Answer::Unknown`].
//!
//! **Watches** fire once: on a candidate or an entry (deleted, or its data changed), on a directory (entries added or
//! removed), or on the wish (written or deleted). A read of a missing entry sets none; the wish can be watched before
//! it exists. They live with the session: on a reconnect they are set again, and fire if something changed since the
//! last answer that the client saw. The newest of equal watches (same session, target and [`Slot`](crate::Slot))
//! replaces the older one, so re-arming leaves nothing behind. (ZooKeeper would notify both requests; a node heeds only
//! the newer one.)
//!
//! **Servers.** [`Fault::Lag`] freezes the view of a server until it catches up, by [`Fault::CatchUp`], a sync, a new
//! session or a write through it. [`Fault::Cut`] separates a server from the others: it answers reads and syncs from
//! its frozen view, accepts no connects, and holds writes and all later requests of the same session. The others end
//! the sessions of its clients in time, but neither the server nor its clients know until [`Fault::Heal`]. The requests
//! it held then either reach the others, late, or are lost with its connections. Servers that are not cut off are the
//! majority, so the last one cannot be cut off. A server tells the others only every half tick that its clients live:
//! they never learn what it heard in the half tick before a cut. A client never sees an older view than before: such a
//! server rejects it. A write held for a session that has moved to another server never happens.
//!
//! **State.** It is small, cheap to clone (servers share a view until theirs differs) and total: no event is wrong,
//! some do nothing. [`Machine::check`] holds after every event. [`Machine::canonical`] gives the form in which a model
//! checker recognizes a state.
//!
//! **Left out**, since no node can tell: access control, sizes, quotas, versions of data but the wish's, the order of servers, and
//! revisions of commits that change nothing. A store that lost its data answers `Expired` to old sessions at once,
//! where ZooKeeper turns them away until they give up.
//!
//! # A store that keeps a lease
//! [`Machine::with_lease`] makes a store of the other [`Family`](crate::Family), with the semantics of our scripts on Redis.
//! It has one server. [`lease::LeaseMachine`] takes the place of the queue, in the same tree, so that an acquisition and
//! the record of its term are one commit. Sessions, directories and settings are as above. A session that ends leaves its
//! lease alone; one that is closed gives it up. [`Fault::Step`] steps the server's wall clock, [`Fault::Lag`] makes a
//! replica fall behind, and [`Fault::Restart`] then puts it in the server's place.

mod canonical;
mod check;
mod connect;
mod directory;
mod event;
mod exchange;
mod faults;
pub mod lease;
mod machine;
mod output;
mod query;
mod queue;
mod rename;
mod replica;
mod request;
mod session;
mod timing;
mod tree;
mod watch;
mod wish;

pub use check::Broken;
pub use event::{Act, Client, Event, Fault, Server};
pub use machine::Machine;
pub use output::{Output, Rejection, Sink};
pub use queue::Contender;
pub use request::{
    Aim, Answer, DirectoryReply, DirectoryRequest, Effect, Holding, LeaseReply, LeaseRequest, Notice, QueueReply,
    QueueRequest, Refusal, Reply, Request, SettingsRequest, TermRecord, TermRequest, Verdict, Wish, WishReply,
    WishRequest,
};
pub use timing::Timing;

#[cfg(test)]
mod tests;
