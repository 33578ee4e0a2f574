//! The key of the election, on a Redis.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::super::outbox::send;
use super::super::{Broken, Contender, Envelope, Event, Timer};
use super::{Command, Message, TIME_TO_LIVE};
use crate::Time;

/// A Redis, with nothing on it but the key of the election.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Store {
    /// End of the key's life. `None`: there is no key.
    expires_at: Option<Time>,
}

impl Store {
    /// A Redis without the key.
    #[must_use]
    pub const fn new() -> Self {
        Self { expires_at: None }
    }

    /// End of the key's life; `None` if there is no key.
    #[must_use]
    pub const fn expires_at(&self) -> Option<Time> {
        self.expires_at
    }

    fn carry_out(&mut self, now: Time, command: Command) -> bool {
        let exists = self.expires_at.is_some();
        match command {
            Command::SetIfAbsent if exists => return false,
            Command::SetIfAbsent => self.expires_at = Some(now + TIME_TO_LIVE),
            Command::Expire if exists => self.expires_at = Some(now + TIME_TO_LIVE),
            Command::Expire | Command::Exists => return exists,
        }
        true
    }
}

impl Contender for Store {
    type Message = Message;

    fn handle(&mut self, now: Time, event: Event<Message>, out: &mut Vec<Envelope<Message>>) {
        self.expires_at = self.expires_at.filter(|at| *at > now);
        match event {
            Event::Received { from, message: Message::Ask(command) } => {
                let yes = self.carry_out(now, command);
                send(out, from, Message::Answer { to: command, yes });
            }
            // Redis keeps the end of a key's life in wall-clock time.
            Event::ClockSet { by, forward } => {
                self.expires_at = self.expires_at.map(|at| if forward { at - by } else { at + by });
            }
            Event::Start | Event::Wake | Event::Received { message: Message::Answer { .. }, .. } => {}
        }
    }

    fn next_deadline(&self) -> Option<(Time, Timer)> {
        self.expires_at.map(|at| (at, Timer::Expiry))
    }

    fn check(&self) -> Result<(), Broken> {
        Ok(())
    }

    fn leads_until(&self) -> Option<Time> {
        None
    }

    /// Redis keeps its keys in memory unless it is told to keep them elsewhere.
    fn restarted(&self, _seed: u64) -> Box<dyn Contender<Message = Message>> {
        Box::new(Self::new())
    }
}
