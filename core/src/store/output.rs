//! The store's messages to its clients.

use alloc::vec::Vec;
use core::time::Duration;

use super::{Answer, Notice, Server};
use crate::{OpId, Session};

/// A message of the store to a client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Output {
    /// A client is connected, with a new session or its old one.
    Connected {
        /// The client's session.
        session: Session,
        /// Negotiated timeout.
        timeout: Duration,
    },
    /// A session is over, or never existed. Its client is not connected any more.
    Expired {
        /// The session.
        session: Session,
    },
    /// A server does not accept a client now. The client may try again, there or elsewhere.
    Rejected {
        /// The server.
        server: Server,
        /// Reason.
        why: Rejection,
    },
    /// The store broke the link of a client, whose session may live on.
    Disconnected {
        /// The client's session.
        session: Session,
    },
    /// A request was answered.
    Answered {
        /// The client's session.
        session: Session,
        /// Id of the operation.
        id: OpId,
        /// The answer.
        answer: Answer,
    },
    /// A watch fired.
    Noticed {
        /// The client's session.
        session: Session,
        /// Id of the request that set the watch.
        id: OpId,
        /// Reason.
        notice: Notice,
    },
    /// A client has ended its session.
    Closed {
        /// The session.
        session: Session,
    },
}

/// Reason for which a server does not accept a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Rejection {
    /// There is no such server, or it is cut off from the others.
    Unreachable,
    /// The client has seen a newer state than the server knows.
    Behind,
}

/// Takes outputs in order.
pub trait Sink {
    /// Adds one output.
    fn push(&mut self, output: Output);
}

impl Sink for Vec<Output> {
    fn push(&mut self, output: Output) {
        Self::push(self, output);
    }
}
