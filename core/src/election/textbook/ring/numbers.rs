//! The rules for numbers that go round.

use alloc::vec::Vec;

use super::super::Envelope;
use super::{Message, Ring, Word};
use crate::Time;

type Out = Vec<Envelope<Message>>;

impl Ring {
    /// Sends this node's own number round. In the paper any process may do so, at any time.
    pub(super) fn initiate(&mut self, now: Time, out: &mut Out) {
        (self.participates, self.heard) = (true, now);
        self.begin_round(now, Word::Candidate(self.config.me), out);
    }

    /// Beyond the paper, which does not ask who finds out that a leader is gone: a leader sends its number round as a sign
    /// of life. Without one for too long, or without the result of an election that has begun, a node sends its own
    /// number.
    pub(super) fn timeout(&mut self, now: Time, out: &mut Out) {
        if self.is_leader() {
            self.heard = now;
            self.begin_round(now, Word::Alive(self.config.me), out);
        } else {
            self.initiate(now, out);
        }
    }

    /// Takes a word that has come round to this node.
    pub(super) fn hear(&mut self, now: Time, word: Word, hops_left: u8, out: &mut Out) {
        match word {
            Word::Candidate(number) if number == self.config.me => self.win(now, out),
            // "If its own number is lower", the process passes the number on.
            Word::Candidate(number) if number > self.config.me => {
                self.participates = true;
                self.pass_on(now, word, hops_left, out);
            }
            // If its own number is higher, it throws the number away; a process that has not sent its own does so now.
            Word::Candidate(_) if self.participates => {}
            Word::Candidate(_) => self.initiate(now, out),
            Word::Elected(leader) | Word::Alive(leader) if leader == self.config.me => {}
            Word::Elected(leader) | Word::Alive(leader) if leader > self.config.me => {
                (self.leader, self.participates, self.heard) = (Some(leader), false, now);
                self.pass_on(now, word, hops_left, out);
            }
            // Beyond the paper: the number of a node that was cut off or down was not seen in that election.
            Word::Elected(_) | Word::Alive(_) if self.participates || self.is_leader() => {}
            Word::Elected(_) | Word::Alive(_) => self.initiate(now, out),
        }
    }

    /// The own number has come back, so no node on the ring has a higher one.
    fn win(&mut self, now: Time, out: &mut Out) {
        (self.leader, self.participates, self.heard) = (Some(self.config.me), false, now);
        self.begin_round(now, Word::Elected(self.config.me), out);
    }

    fn begin_round(&mut self, now: Time, word: Word, out: &mut Out) {
        self.send(now, word, self.config.nodes, out);
    }

    /// Beyond the paper: the word of a node that has gone would go round for ever, so it ends after one round.
    fn pass_on(&mut self, now: Time, word: Word, hops_left: u8, out: &mut Out) {
        if let Some(hops_left @ 1..) = hops_left.checked_sub(1) {
            self.send(now, word, hops_left, out);
        }
    }
}
