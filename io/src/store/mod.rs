//! Store: the seam to the coordination store. Requests go in; answers, notices and session events come out.
//!
//! An adapter decides nothing. It opens a session and keeps it, opens a new one when that is lost, and passes on requests
//! and replies of [`rolecall_core::store`]. It never blocks its caller, and never drops a write that it has begun.

mod denial;
#[cfg(any(feature = "zookeeper", feature = "redis"))]
mod denials;
mod memory;
mod open;
mod participant;
#[cfg(feature = "redis")]
pub mod redis;
mod url;
#[cfg(any(feature = "zookeeper", feature = "redis"))]
mod wish;
#[cfg(feature = "zookeeper")]
pub mod zookeeper;

use core::fmt;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use rolecall_core::{Family, OpId, Session};

pub use rolecall_core::store::{
    Act, Aim, Answer, DirectoryReply, DirectoryRequest, Holding, LeaseReply, LeaseRequest, Notice, QueueReply,
    QueueRequest, Refusal, Reply, Request, SettingsRequest, TermRecord, TermRequest, Timing, Verdict, Wish, WishReply,
    WishRequest,
};

pub use self::denial::Denial;
pub use self::memory::{MemoryConnection, MemoryStore};
pub use self::open::OpenError;
pub use self::participant::{MAX_METADATA_BYTES, MAX_NAME_BYTES, Participant, ParticipantError, Registration};
pub use self::url::{Password, RedisPlace, RedisUrl, ServerAddress, StoreUrl, StoreUrlError};
#[cfg(any(feature = "zookeeper", feature = "redis"))]
pub use self::wish::{parse_wish, wish_to_bytes};

/// Event from a store to its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreEvent {
    /// A session is connected: a new one, or the same one again.
    Up {
        /// The session.
        session: Session,
        /// Its negotiated timeout.
        timeout: Duration,
    },
    /// The connection is lost; the session may still be alive.
    Suspended,
    /// The session is over, or its state cannot be known any more. The adapter opens a new one by itself.
    Lost,
    /// A request was answered.
    Answered {
        /// Id of the request.
        id: OpId,
        /// Answer to it.
        answer: Answer,
    },
    /// A watch fired.
    Noticed {
        /// Id of the request that set the watch.
        id: OpId,
        /// Kind of change.
        notice: Notice,
    },
    /// What the store denies to this node has changed; all of it, empty if nothing is denied.
    Denied(Arc<[Denial]>),
    /// The session that [`Store::close`] ended is gone from the store, or cannot be reached any more.
    Closed,
}

/// Connection to a coordination store, for one node of one cluster.
pub trait Store: fmt::Debug + Send {
    /// Family of the store's election. A node of the other family cannot use the store.
    fn family(&self) -> Family;

    /// Sends `request` to the store. The answer arrives as [`StoreEvent::Answered`] with the same `id`. Without a connection,
    /// the answer is `Refused(Disconnected)`, at once.
    fn send(&mut self, id: OpId, request: Request);

    /// Drops the session without closing it in good order, and opens a new one.
    fn renew(&mut self);

    /// Ends the session in good order, so that its ephemeral entries are gone at once. [`StoreEvent::Closed`] is the last
    /// event.
    fn close(&mut self);

    /// Polls for the next event, in the order in which they happened. Never ends: after [`StoreEvent::Closed`] it stays
    /// pending.
    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<StoreEvent>;
}
