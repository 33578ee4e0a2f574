//! Election on a ring: the highest number that gets round leads.
//!
//! Source: Ernest Chang and Rosemary Roberts, "An Improved Algorithm for Decentralized Extrema-Finding in Circular
//! Configurations of Processes", Communications of the ACM 22(5), 1979. Each node speaks only to the next one. It passes on
//! a number that is higher than its own and throws away one that is lower, so only the highest gets back to its owner.
//!
//! The paper finds the highest of processes that do not fail. What a cluster needs beyond it stands in `hop` and in
//! `timeout`, and says so: a node that does not take a message is skipped (as in the ring algorithm of Tanenbaum and van
//! Steen, "Distributed Systems"), the leader's number goes round from time to time as a sign of life, and a message that
//! outlives its owner ends after one round.
//!
//! **What it gets wrong.** A node that pauses is skipped like one that is down, and the others elect the next one beside
//! it. A partition closes the ring on each side, with a leader each. Both end only when the result of the higher one gets
//! round again.

mod hop;
mod message;
mod numbers;
#[cfg(test)]
mod tests;

pub use message::{Message, Word};

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::outbox::send;
use super::{Broken, Config, Contender, Envelope, Event, Peer, Timer};
use crate::Time;
use hop::{Hop, Skipped};

/// One node of the ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ring {
    config: Config,
    /// Node that leads, as far as this one knows.
    leader: Option<Peer>,
    /// True from the first number that this node has sent or passed on to the result.
    participates: bool,
    /// Messages that the next node has not taken yet.
    hops: Vec<Hop>,
    /// Nodes that are down, as far as this one knows.
    skipped: Vec<Skipped>,
    /// Number of the last message.
    sent: u64,
    /// Time at which the leader was last heard, or at which the wait for a result began.
    heard: Time,
}

impl Ring {
    /// A node that has not started yet.
    #[must_use]
    pub const fn new(config: Config) -> Self {
        Self {
            leader: None,
            participates: false,
            hops: Vec::new(),
            skipped: Vec::new(),
            sent: config.seed,
            heard: Time::ZERO,
            config,
        }
    }

    fn is_leader(&self) -> bool {
        self.leader == Some(self.config.me)
    }

    /// Time at which a leader shows that it lives, and anybody else counts its silence as a failure.
    fn patience(&self) -> (Time, Timer) {
        if self.is_leader() {
            (self.heard + self.config.heartbeat, Timer::Heartbeat)
        } else {
            (self.heard + self.config.silence, Timer::Silence)
        }
    }

    fn wake(&mut self, now: Time, out: &mut Vec<Envelope<Message>>) {
        self.skip_silent(now, out);
        if self.patience().0 <= now {
            self.timeout(now, out);
        }
    }
}

impl Contender for Ring {
    type Message = Message;

    fn handle(&mut self, now: Time, event: Event<Message>, out: &mut Vec<Envelope<Message>>) {
        match event {
            Event::Start => self.initiate(now, out),
            Event::Received { from, message: Message::Pass { number, word, hops_left } } => {
                self.is_up(from);
                send(out, from, Message::Taken { number, word });
                self.hear(now, word, hops_left, out);
            }
            Event::Received { from, message: Message::Taken { number, .. } } => {
                self.is_up(from);
                self.taken(from, number);
            }
            Event::ClockSet { .. } => {}
            Event::Wake => self.wake(now, out),
        }
    }

    fn next_deadline(&self) -> Option<(Time, Timer)> {
        let hops = self.hops.iter().map(|hop| (hop.until, Timer::Answers));
        hops.chain([self.patience()]).min()
    }

    fn check(&self) -> Result<(), Broken> {
        match self.leader.filter(|peer| peer.0 >= self.config.nodes) {
            Some(peer) => Err(Broken::UnknownLeader(peer)),
            None => Ok(()),
        }
    }

    fn leads_until(&self) -> Option<Time> {
        self.is_leader().then_some(Time::MAX)
    }

    fn restarted(&self, seed: u64) -> Box<dyn Contender<Message = Message>> {
        Box::new(Self::new(Config { seed, ..self.config }))
    }
}
