//! The Bully algorithm: the highest node that answers leads.
//!
//! Source: Hector Garcia-Molina, "Elections in a Distributed Computing System", IEEE Transactions on Computers C-31(1),
//! 1982, the algorithm for a network that never fails. Its procedures have the paper's names: `election`, `check`,
//! `timeout` and `recovery` run on a node; `AreYouThere`, `AreYouNormal`, `Halt`, `NewCoordinator` and `Ready` are calls
//! that other nodes answer at once.
//!
//! **What it gets wrong.** The paper states that it is right only if every message arrives within a known time and no
//! node ever pauses. A coordinator that pauses is taken for dead; it goes on as coordinator beside the next one, and
//! nothing ever tells the two apart, since every node answers both that it is normal. A partition leaves a coordinator on
//! each side in the same way, also after it has healed.

mod message;
mod procedures;
mod roll;
#[cfg(test)]
mod tests;

pub use message::{Call, Message};

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Broken, Config, Contender, Envelope, Event, Peer, Timer};
use crate::Time;
use roll::Roll;

/// One node of the Bully algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bully {
    config: Config,
    /// The paper's `S(i).s`.
    status: Status,
    /// The paper's `S(i).c`.
    coordinator: Option<Peer>,
    /// The paper's `S(i).h`: the last node that made this one halt.
    halted_by: Option<Peer>,
    phase: Phase,
    /// Number of the last round of calls, which answers repeat.
    round: u64,
    /// Time at which the coordinator was last heard, or at which the wait for one began.
    heard: Time,
    /// Time of the next `check`.
    check_at: Time,
}

/// Status of a node. The paper's fourth, "Down", is that of a process which does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Status {
    /// A coordinator is being elected.
    Election,
    /// The coordinator is known, and hands out its task.
    Reorganization,
    /// The node works for its coordinator.
    Normal,
}

/// Calls whose answers are awaited.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// None.
    Idle,
    /// `AreYouThere`, of all higher nodes: one that answers takes the election over.
    AskingHigher { until: Time },
    /// `AreYouThere`, of a coordinator that has been silent.
    AskingCoordinator { until: Time },
    /// `Halt`, of all lower nodes. The roll becomes the paper's `S(i).Up`.
    Halting { until: Time, roll: Roll },
    /// `NewCoordinator`, of all nodes that halted.
    Naming { until: Time, roll: Roll },
    /// `Ready`, of all nodes that halted.
    Readying { until: Time, roll: Roll },
    /// `AreYouNormal`, of all other nodes.
    Checking { until: Time, roll: Roll },
}

impl Phase {
    const fn until(&self) -> Option<Time> {
        match self {
            Self::Idle => None,
            Self::AskingHigher { until }
            | Self::AskingCoordinator { until }
            | Self::Halting { until, .. }
            | Self::Naming { until, .. }
            | Self::Readying { until, .. }
            | Self::Checking { until, .. } => Some(*until),
        }
    }
}

impl Bully {
    /// A node that has not started yet.
    #[must_use]
    pub const fn new(config: Config) -> Self {
        Self {
            status: Status::Election,
            coordinator: None,
            halted_by: None,
            phase: Phase::Idle,
            round: config.seed,
            heard: Time::ZERO,
            check_at: Time::ZERO,
            config,
        }
    }

    const fn is_coordinator(&self) -> bool {
        matches!((self.status, self.coordinator), (Status::Normal, Some(peer)) if peer.0 == self.config.me.0)
    }
}

impl Contender for Bully {
    type Message = Message;

    fn handle(&mut self, now: Time, event: Event<Message>, out: &mut Vec<Envelope<Message>>) {
        match event {
            Event::Start => self.recovery(now, out),
            Event::Received { from, message: Message::Call { call, round } } => {
                self.called(now, from, call, round, out)
            }
            Event::Received { from, message: Message::Return { round, yes, .. } } if round == self.round => {
                self.returned(now, from, yes, out);
            }
            // The answer came after its caller had given up.
            Event::Received { message: Message::Return { .. }, .. } => {}
            Event::ClockSet { .. } => {}
            Event::Wake => self.wake(now, out),
        }
    }

    fn next_deadline(&self) -> Option<(Time, Timer)> {
        Some(match self.phase.until() {
            Some(until) => (until, Timer::Answers),
            None if self.is_coordinator() => (self.check_at, Timer::Heartbeat),
            None => (self.heard + self.config.silence, Timer::Silence),
        })
    }

    fn check(&self) -> Result<(), Broken> {
        if let Some(peer) = self.coordinator.filter(|peer| peer.0 >= self.config.nodes) {
            return Err(Broken::UnknownLeader(peer));
        }
        if self.is_coordinator() && self.halted_by != Some(self.config.me) {
            return Err(Broken::LeadsWithoutRight);
        }
        Ok(())
    }

    fn leads_until(&self) -> Option<Time> {
        self.is_coordinator().then_some(Time::MAX)
    }

    fn restarted(&self, seed: u64) -> Box<dyn Contender<Message = Message>> {
        Box::new(Self::new(Config { seed, ..self.config }))
    }
}
