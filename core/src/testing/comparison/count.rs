//! Kinds of messages, for counting.

use core::fmt;

use crate::election::textbook::bully::{self, Call};
use crate::election::textbook::naive_lease::{self, Command};
use crate::election::textbook::raft;
use crate::election::textbook::ring::{self, Word};

/// The purpose of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It serves an election.
    Election,
    /// It is sent again and again while nothing happens: heartbeats, polls and pings.
    Upkeep,
    /// It is the store's part of an operation that was counted at its request.
    Answer,
}

/// A message whose purpose is known.
pub(super) trait Purposeful: Clone + fmt::Debug {
    fn purpose(&self) -> Purpose;
}

impl Purposeful for bully::Message {
    fn purpose(&self) -> Purpose {
        match self {
            Self::Call { call, .. } | Self::Return { to: call, .. } => match call {
                Call::AreYouNormal => Purpose::Upkeep,
                Call::AreYouThere | Call::Halt | Call::NewCoordinator | Call::Ready => Purpose::Election,
            },
        }
    }
}

impl Purposeful for ring::Message {
    fn purpose(&self) -> Purpose {
        match self {
            Self::Pass { word, .. } | Self::Taken { word, .. } => match word {
                Word::Alive(_) => Purpose::Upkeep,
                Word::Candidate(_) | Word::Elected(_) => Purpose::Election,
            },
        }
    }
}

impl Purposeful for raft::Message {
    fn purpose(&self) -> Purpose {
        match self {
            Self::Heartbeat { .. } | Self::HeartbeatTaken { .. } => Purpose::Upkeep,
            Self::AskPreVote { .. } | Self::PreVote { .. } | Self::AskVote { .. } | Self::Vote { .. } => {
                Purpose::Election
            }
        }
    }
}

impl Purposeful for naive_lease::Message {
    fn purpose(&self) -> Purpose {
        match self {
            Self::Ask(Command::SetIfAbsent) => Purpose::Election,
            Self::Ask(Command::Exists | Command::Expire) => Purpose::Upkeep,
            Self::Answer { .. } => Purpose::Answer,
        }
    }
}
