//! Events of the store.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::time::Duration;

use super::{Request, Wish};
use crate::{Candidate, Directory, Epoch, Guid, MemberKey, Metadata, OpId, Session};

/// One of the store's servers, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Server(pub u8);

/// The node behind a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Client {
    /// Id of the node.
    pub id: Arc<str>,
    /// Address of the node, `host:port`.
    pub address: Arc<str>,
    /// The application's description of it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Metadata::is_empty"))]
    #[cfg_attr(feature = "arbitrary", arbitrary(default))]
    pub metadata: Metadata,
}

/// An event of the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Event {
    /// A client connects to a server, with its old session or for a new one. One of the outputs tells the result:
    /// [`Connected`](super::Output::Connected), [`Expired`](super::Output::Expired) or
    /// [`Rejected`](super::Output::Rejected).
    Connect {
        /// The server.
        server: Server,
        /// The client.
        client: Client,
        /// The session to resume.
        previous: Option<Session>,
        /// Session timeout that the client asks for.
        timeout: Duration,
    },
    /// The link of a client breaks. Nothing under way on it is answered any more.
    Disconnect {
        /// The client's session.
        session: Session,
    },
    /// A connected client sends a request.
    Request {
        /// The client's session.
        session: Session,
        /// Id of the operation.
        id: OpId,
        /// The request.
        request: Request,
    },
    /// A connected client shows that it lives.
    Ping {
        /// The client's session.
        session: Session,
    },
    /// A connected client ends its session in good order. The output is [`Closed`](super::Output::Closed), or
    /// [`Expired`](super::Output::Expired) if the session was already over.
    Close {
        /// The client's session.
        session: Session,
    },
    /// The driver's timer. It does no harm if it comes early or twice.
    Wake,
    /// An operator, or another kind of client, does something.
    Operator(Act),
    /// A fault begins or ends.
    Fault(Fault),
}

/// An act of an operator or of another kind of client. If the owner is not a live session, the entry outlives all
/// sessions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Act {
    /// Adds a candidate at the end of the queue.
    AddCandidate {
        /// Guid of the contender, if it has one.
        guid: Option<Guid>,
        /// Content of the candidate: the id of its contender.
        participant: Arc<str>,
        /// Owner.
        owner: Session,
    },
    /// Writes a candidate's data again.
    RewriteCandidate(Candidate),
    /// Deletes a candidate.
    DeleteCandidate(Candidate),
    /// Adds a name to the queue that is not a candidate.
    LitterQueue,
    /// Adds an entry to a directory, if it does not exist.
    AddMember {
        /// The directory.
        directory: Directory,
        /// Key of the entry.
        key: MemberKey,
        /// Address in the entry.
        address: Arc<str>,
        /// Epoch in the entry.
        epoch: Option<Epoch>,
        /// Owner.
        owner: Session,
    },
    /// Writes an entry's data again.
    RewriteMember {
        /// The directory.
        directory: Directory,
        /// Key of the entry.
        key: MemberKey,
    },
    /// Deletes an entry.
    DeleteMember {
        /// The directory.
        directory: Directory,
        /// Key of the entry.
        key: MemberKey,
    },
    /// Adds a malformed entry to a directory.
    LitterDirectory(Directory),
    /// Deletes the term record.
    DeleteTerm,
    /// Overwrites the term record with something that is not one.
    SpoilTerm,
    /// Deletes the settings of the cluster.
    DeleteSettings,
    /// Writes the wish, whatever stood there.
    Wish(Box<Wish>),
    /// Overwrites the wish with something that is not one.
    SpoilWish,
    /// Deletes the wish.
    DeleteWish,
}

/// The beginning or the end of a fault. One that makes no sense as things stand does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Fault {
    /// A server falls behind: it keeps showing its present state until it catches up. Where the store keeps a lease, a
    /// replica of the server falls behind.
    Lag(Server),
    /// A lagging server catches up.
    CatchUp(Server),
    /// A server loses contact with the others. The last server that is not cut off stays so.
    Cut(Server),
    /// A server finds the others again.
    Heal {
        /// The server.
        server: Server,
        /// True if the requests it held reach the others now (a short cut); false if they are lost with its clients'
        /// links (a long one).
        deliver: bool,
    },
    /// All servers stop and start again: links break, and the timeout of every session starts anew. If a replica has
    /// fallen behind, it takes the server's place, without the writes since then and without any session.
    Restart {
        /// True if data and sessions are kept.
        keep_data: bool,
    },
    /// A session ends as if it had timed out.
    Expire(Session),
    /// The server's wall clock steps. Only a lease depends on it.
    Step {
        /// Milliseconds forward, or back if negative.
        millis: i64,
    },
    /// The lease ends as if its time had passed, for worlds in which no time passes.
    Lapse,
}
