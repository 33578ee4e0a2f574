//! The recipe for Redis that many programs use: whoever sets a key that expires leads, and prolongs it.
//!
//! There is no paper. The recipe: a node leads if `SET leader 1 NX EX 30` (once `SETNX` and `EXPIRE`) succeeds. It sends
//! `EXPIRE leader 30` every 25 s. The others send `EXISTS leader` every 5 s, and try to set the key once it is gone.
//!
//! **What it gets wrong.** Nothing says whose key it is. A leader that pauses for longer than the key lives goes on as
//! leader beside the next one and prolongs its rival's key, so that both lead for as long as both run; and when the one that
//! set the key dies, the other keeps its key alive. A leader that is cut off goes on too. The key's time to live follows the
//! wall clock of the server (measured on Redis 7), so that a step of that clock ends it early or late. Without any of that, a
//! leader that dies is replaced after up to 35 s: 30 until the key is gone, and 5 until somebody looks.

mod store;
#[cfg(test)]
mod tests;

pub use store::Store;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use super::outbox::send;
use super::{Broken, Contender, Envelope, Event, Peer, Timer};
use crate::Time;

/// Time to live of the key.
pub const TIME_TO_LIVE: Duration = Duration::from_secs(30);
/// Interval at which a leader prolongs the key.
pub const RENEWAL: Duration = Duration::from_secs(25);
/// Interval at which the others look for the key.
pub const POLL: Duration = Duration::from_secs(5);

/// A command to the store, or its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// A command.
    Ask(Command),
    /// The answer to a command.
    Answer {
        /// The command.
        to: Command,
        /// True if the key exists, or if it did not and was set.
        yes: bool,
    },
}

/// A command of Redis, on the one key of the election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Sets the key with its time to live, if it does not exist.
    SetIfAbsent,
    /// Lets the key live for its whole time from now on, whoever set it.
    Expire,
    /// Asks whether the key exists.
    Exists,
}

/// One node of the recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NaiveLease {
    is_leader: bool,
    /// Time of the next command.
    next: Time,
}

impl Default for NaiveLease {
    fn default() -> Self {
        Self::new()
    }
}

impl NaiveLease {
    /// A node that has not started yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { is_leader: false, next: Time::ZERO }
    }

    /// The one leader prolongs the key, without asking whose it is. The others look whether it exists.
    fn wake(&mut self, now: Time, out: &mut Vec<Envelope<Message>>) {
        if self.next <= now {
            let (command, interval) = if self.is_leader { (Command::Expire, RENEWAL) } else { (Command::Exists, POLL) };
            send(out, Peer::STORE, Message::Ask(command));
            self.next = now + interval;
        }
    }

    fn answered(&mut self, now: Time, to: Command, yes: bool, out: &mut Vec<Envelope<Message>>) {
        match (to, yes) {
            // The key is gone: the first to set it leads.
            (Command::Exists, false) if !self.is_leader => send(out, Peer::STORE, Message::Ask(Command::SetIfAbsent)),
            (Command::SetIfAbsent, true) => (self.is_leader, self.next) = (true, now + RENEWAL),
            // Kinder than most programs, which do not look at this answer: there was nothing to prolong.
            (Command::Expire, false) => (self.is_leader, self.next) = (false, now),
            (Command::Exists | Command::Expire, _) | (Command::SetIfAbsent, false) => {}
        }
    }
}

impl Contender for NaiveLease {
    type Message = Message;

    fn handle(&mut self, now: Time, event: Event<Message>, out: &mut Vec<Envelope<Message>>) {
        match event {
            Event::Start => {
                *self = Self { is_leader: false, next: now };
                self.wake(now, out);
            }
            Event::Received { message: Message::Answer { to, yes }, .. } => self.answered(now, to, yes, out),
            Event::Received { message: Message::Ask(_), .. } | Event::ClockSet { .. } => {}
            Event::Wake => self.wake(now, out),
        }
    }

    fn next_deadline(&self) -> Option<(Time, Timer)> {
        Some((self.next, if self.is_leader { Timer::Heartbeat } else { Timer::Poll }))
    }

    fn check(&self) -> Result<(), Broken> {
        Ok(())
    }

    fn leads_until(&self) -> Option<Time> {
        self.is_leader.then_some(Time::MAX)
    }

    fn restarted(&self, _seed: u64) -> Box<dyn Contender<Message = Message>> {
        Box::new(Self::new())
    }
}
