//! Elections: who of the willing leads.
//!
//! [`queue`] is the election by a queue of session-bound candidates. What [`Node`](crate::Node) asks of an election is
//! small: whether it leads, with which token and until when ([`Position`]); how far it is to go ([`Will`]); when to be woken;
//! whether it holds its promises.

pub(crate) mod queue;

use crate::{Fence, Time};

/// How far a node wants to go in its election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Will {
    /// Stand, and lead when it is this node's turn.
    Stand,
    /// Keep what is held, begin nothing: a term goes on while its requests in flight end.
    Keep,
    /// Give up the term and everything that stands for it.
    Withdraw,
}

/// Where a node stands in its election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Position {
    /// Not known, or not yet.
    Unknown,
    /// Behind somebody.
    Waiting,
    /// This node holds a term.
    Leading {
        /// Its token.
        fence: Fence,
        /// The end of its validity.
        until: Time,
    },
}

impl Position {
    /// The term that is held: its token, and the end of its validity.
    pub(crate) fn term(self) -> Option<(Fence, Time)> {
        match self {
            Self::Leading { fence, until } => Some((fence, until)),
            Self::Waiting | Self::Unknown => None,
        }
    }
}
