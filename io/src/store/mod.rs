//! The seam to the coordination store: requests in; answers, notices and session events out.
//!
//! An adapter decides nothing. It opens a session and keeps it, opens a new one when that is lost, and passes words of
//! [`rolecall_core::store`] on. It never blocks its caller, and never drops a write that it has begun.

mod memory;
mod open;
mod participant;
mod url;
#[cfg(feature = "zookeeper")]
pub mod zookeeper;

use core::fmt;
use core::task::{Context, Poll};
use core::time::Duration;

use rolecall_core::{OpId, Session};

pub use rolecall_core::store::{Act, Answer, Notice, Refusal, Reply, Request, TermRecord, Timing};

pub use self::memory::{MemoryConnection, MemoryStore};
pub use self::open::OpenError;
pub use self::participant::{MAX_NAME_BYTES, Participant, ParticipantError};
pub use self::url::{Password, Server, StoreUrl, StoreUrlError};

/// What a store tells its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreEvent {
    /// A session is connected: a new one, or the same one again.
    Up {
        /// Which.
        session: Session,
        /// The timeout that was negotiated for it.
        timeout: Duration,
    },
    /// The connection is lost; the session may live on.
    Suspended,
    /// The session is over, or nothing can be known of it any more. The adapter opens a new one by itself.
    Lost,
    /// A request was answered.
    Answered {
        /// Which.
        id: OpId,
        /// How it ended.
        answer: Answer,
    },
    /// A watch fired.
    Noticed {
        /// The request that set it.
        id: OpId,
        /// Why.
        notice: Notice,
    },
    /// The session that [`Store::close`] ended is gone from the store, or can't be reached any more.
    Closed,
}

/// A connection to a coordination store, for one node of one cluster.
pub trait Store: fmt::Debug + Send {
    /// Gives `request` to the store. Its answer comes as [`StoreEvent::Answered`] with the same `id`; while there is no
    /// connection that is at once `Refused(Disconnected)`.
    fn send(&mut self, id: OpId, request: Request);

    /// Drops the session, without closing it in good order, and opens a new one.
    fn renew(&mut self);

    /// Ends the session in good order, so that what lives with it is gone at once; [`StoreEvent::Closed`] is the last event.
    fn close(&mut self);

    /// The next event, in the order in which they happened. Never ends; after [`StoreEvent::Closed`] it stays pending.
    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<StoreEvent>;
}
