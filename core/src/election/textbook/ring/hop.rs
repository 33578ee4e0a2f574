//! From one node to the next that is up. The paper has no such rule: its processes do not fail.

use alloc::vec::Vec;

use super::super::outbox::send;
use super::super::{Envelope, Peer};
use super::{Message, Ring, Word};
use crate::Time;

type Out = Vec<Envelope<Message>>;

/// A message that the next node has not taken yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hop {
    pub(super) to: Peer,
    pub(super) number: u64,
    pub(super) word: Word,
    hops_left: u8,
    /// Time at which the next node counts as down.
    pub(super) until: Time,
}

/// A node that did not take a message, and is skipped without being tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Skipped {
    peer: Peer,
    /// Time at which it is tried again.
    until: Time,
}

impl Ring {
    /// Sends a word to the next node that is up, or takes it here if there is none.
    pub(super) fn send(&mut self, now: Time, word: Word, hops_left: u8, out: &mut Out) {
        if self.hops.iter().any(|hop| hop.word == word) {
            // It is under way already.
            return;
        }
        self.skipped.retain(|skipped| skipped.until > now);
        let to = self.successor();
        if to == self.config.me {
            return self.hear(now, word, hops_left, out);
        }
        self.sent = self.sent.wrapping_add(1);
        self.hops.push(Hop { to, number: self.sent, word, hops_left, until: now + self.config.answer_within });
        send(out, to, Message::Pass { number: self.sent, word, hops_left });
    }

    /// Notes that a message was taken.
    pub(super) fn taken(&mut self, from: Peer, number: u64) {
        self.hops.retain(|hop| hop.to != from || hop.number != number);
    }

    /// Notes that a node is up.
    pub(super) fn is_up(&mut self, peer: Peer) {
        self.skipped.retain(|skipped| skipped.peer != peer);
    }

    /// Tanenbaum and van Steen: if the next node is down, the sender skips it and goes to the one after that, until one
    /// takes the message.
    pub(super) fn skip_silent(&mut self, now: Time, out: &mut Out) {
        let (silent, waiting): (Vec<Hop>, Vec<Hop>) = self.hops.iter().partition(|hop| hop.until <= now);
        self.hops = waiting;
        for hop in silent {
            self.is_up(hop.to);
            self.skipped.push(Skipped { peer: hop.to, until: now + self.config.silence });
            self.send(now, hop.word, hop.hops_left, out);
        }
    }

    fn successor(&self) -> Peer {
        let is_skipped = |peer: &Peer| self.skipped.iter().any(|skipped| skipped.peer == *peer);
        let after = self.config.higher().chain(self.config.lower());
        after.into_iter().find(|peer| !is_skipped(peer)).unwrap_or(self.config.me)
    }
}
