//! Raft's messages.

/// A message, with the term of its sender unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// Asks for the promise of a vote.
    AskPreVote {
        /// The term that the sender would stand in.
        term: u64,
    },
    /// The answer to [`AskPreVote`](Self::AskPreVote).
    PreVote {
        /// The term of the answer's sender, or that of the question if it is granted.
        term: u64,
        /// True if the vote is promised.
        granted: bool,
    },
    /// Asks for a vote (the paper's RequestVote).
    AskVote {
        /// The sender's term.
        term: u64,
    },
    /// The answer to [`AskVote`](Self::AskVote).
    Vote {
        /// The sender's term.
        term: u64,
        /// True if the vote is given.
        granted: bool,
    },
    /// Shows that a leader lives (the paper's AppendEntries without entries).
    Heartbeat {
        /// The sender's term.
        term: u64,
    },
    /// The answer to [`Heartbeat`](Self::Heartbeat).
    HeartbeatTaken {
        /// The sender's term.
        term: u64,
    },
}

impl Message {
    pub(super) const fn term(&self) -> u64 {
        match self {
            Self::AskPreVote { term }
            | Self::PreVote { term, .. }
            | Self::AskVote { term }
            | Self::Vote { term, .. }
            | Self::Heartbeat { term }
            | Self::HeartbeatTaken { term } => *term,
        }
    }

    /// True unless the term is one in which nobody stands yet.
    pub(super) const fn shows_term_of_sender(&self) -> bool {
        match self {
            Self::AskPreVote { .. } | Self::PreVote { granted: true, .. } => false,
            Self::PreVote { granted: false, .. }
            | Self::AskVote { .. }
            | Self::Vote { .. }
            | Self::Heartbeat { .. }
            | Self::HeartbeatTaken { .. } => true,
        }
    }
}
