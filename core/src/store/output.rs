//! What the store tells its clients.

use alloc::vec::Vec;
use core::time::Duration;

use super::{Answer, Notice, Server};
use crate::{OpId, Session};

/// A word of the store to a client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Output {
    /// A client is connected, with a new session or the one that it had.
    Connected {
        /// Its session.
        session: Session,
        /// The timeout that was negotiated.
        timeout: Duration,
    },
    /// A session is over, or never was. Its client is not connected any more.
    Expired {
        /// Which.
        session: Session,
    },
    /// A server does not take a client now. It may try again, there or elsewhere.
    Rejected {
        /// Which.
        server: Server,
        /// Why.
        why: Rejection,
    },
    /// The store broke the link of a client; its session may live on.
    Disconnected {
        /// Whose.
        session: Session,
    },
    /// A request was answered.
    Answered {
        /// Whose.
        session: Session,
        /// Which.
        id: OpId,
        /// How it ended.
        answer: Answer,
    },
    /// A watch fired.
    Noticed {
        /// Whose.
        session: Session,
        /// The request that set it.
        id: OpId,
        /// Why.
        notice: Notice,
    },
    /// A session was ended by its client.
    Closed {
        /// Which.
        session: Session,
    },
}

/// Why a server does not take a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Rejection {
    /// There is no such server, or it has lost the others.
    Unreachable,
    /// The client has seen more than the server knows of.
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
