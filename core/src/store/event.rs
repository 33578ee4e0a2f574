//! What happens to the store.

use alloc::sync::Arc;
use core::time::Duration;

use super::Request;
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
    /// Its id.
    pub id: Arc<str>,
    /// Where it answers, `host:port`.
    pub address: Arc<str>,
    /// What its application says of it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Metadata::is_empty"))]
    #[cfg_attr(feature = "arbitrary", arbitrary(default))]
    pub metadata: Metadata,
}

/// Something that happens to the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Event {
    /// A client comes to a server, with a session that it had, or for a new one. One of the outputs tells how that went:
    /// [`Connected`](super::Output::Connected), [`Expired`](super::Output::Expired) or [`Rejected`](super::Output::Rejected).
    Connect {
        /// Where.
        server: Server,
        /// Who.
        client: Client,
        /// The session to go on with.
        previous: Option<Session>,
        /// The session timeout that it asks for.
        timeout: Duration,
    },
    /// The link of a client breaks; nothing that is under way on it is answered any more.
    Disconnect {
        /// Whose.
        session: Session,
    },
    /// A connected client asks for something.
    Request {
        /// Who.
        session: Session,
        /// The request's name.
        id: OpId,
        /// What.
        request: Request,
    },
    /// A connected client shows that it lives.
    Ping {
        /// Who.
        session: Session,
    },
    /// A connected client ends its session in good order: [`Closed`](super::Output::Closed), or
    /// [`Expired`](super::Output::Expired) where it was over already.
    Close {
        /// Who.
        session: Session,
    },
    /// The driver's timer. Early or twice does no harm.
    Wake,
    /// An operator, or another kind of client, does something.
    Operator(Act),
    /// Something breaks, or is mended.
    Fault(Fault),
}

/// What an operator or another kind of client does. An owner that is no live session makes a thing that outlives all
/// sessions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Act {
    /// Adds a candidate at the end of the queue.
    AddCandidate {
        /// Its contender's name, if it has one.
        guid: Option<Guid>,
        /// What its data says.
        participant: Arc<str>,
        /// Whose it is.
        owner: Session,
    },
    /// Writes a candidate's data again.
    RewriteCandidate(Candidate),
    /// Deletes a candidate.
    DeleteCandidate(Candidate),
    /// Adds a name to the queue that is not that of a candidate.
    LitterQueue,
    /// Adds an entry to a directory, if it is not there.
    AddMember {
        /// Where.
        directory: Directory,
        /// Its name.
        key: MemberKey,
        /// Where it claims to answer.
        address: Arc<str>,
        /// The epoch that it carries.
        epoch: Option<Epoch>,
        /// Whose it is.
        owner: Session,
    },
    /// Writes an entry's data again.
    RewriteMember {
        /// Where.
        directory: Directory,
        /// Its name.
        key: MemberKey,
    },
    /// Deletes an entry.
    DeleteMember {
        /// Where.
        directory: Directory,
        /// Its name.
        key: MemberKey,
    },
    /// Adds a malformed entry to a directory.
    LitterDirectory(Directory),
    /// Deletes the term record.
    DeleteTerm,
    /// Writes something over the term record that is not one.
    SpoilTerm,
    /// Deletes the settings of the cluster.
    DeleteSettings,
}

/// What breaks, and what mends it. One that makes no sense as things stand does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Fault {
    /// A server falls behind: it shows what it shows now until it is caught up.
    Lag(Server),
    /// A server that lags is up to date again.
    CatchUp(Server),
    /// A server loses the others. The last server that has not is never cut.
    Cut(Server),
    /// A server that was cut finds the others.
    Heal {
        /// Which.
        server: Server,
        /// Whether what it held reaches the others now (a short cut), or is lost with its clients' links (a long one).
        deliver: bool,
    },
    /// All servers stop and start again: links break, the time of every session starts anew.
    Restart {
        /// Whether data and sessions are still there.
        keep_data: bool,
    },
    /// A session ends as if its time were over.
    Expire(Session),
}
