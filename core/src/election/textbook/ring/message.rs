//! Messages of the ring.

use super::super::Peer;

/// A message from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// A word that goes round the ring.
    Pass {
        /// Number of the message at its sender.
        number: u64,
        /// The word.
        word: Word,
        /// Number of nodes that the word may still reach.
        hops_left: u8,
    },
    /// The receiver has taken a message.
    Taken {
        /// Number of the message at its sender.
        number: u64,
        /// The word.
        word: Word,
    },
}

/// A word that goes round the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word {
    /// The number of a node that may be the highest.
    Candidate(Peer),
    /// The number of the node that is the highest.
    Elected(Peer),
    /// The number of the node that leads, as a sign of life.
    Alive(Peer),
}
