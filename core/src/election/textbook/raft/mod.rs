//! Raft's election: whoever gets the votes of a majority leads for one term.
//!
//! Sources: Diego Ongaro and John Ousterhout, "In Search of an Understandable Consensus Algorithm", USENIX ATC 2014,
//! sections 5.1 and 5.2; and Diego Ongaro, "Consensus: Bridging Theory and Practice", Stanford 2014 ("the thesis"), section
//! 9.6 for the vote before the vote, and 6.2 for a leader that has lost the majority. There is no log here, so the rule
//! that a voter's log may not be newer (5.4.1) has nothing to compare.
//!
//! **What it is right about**: at most one leader in a term, whatever pauses, is lost or comes late (the paper's Election
//! Safety), since a node gives one vote a term and keeps it on disk. **What it does not promise** is one leader at an
//! instant: a leader that pauses or is cut off believes in its term while the others elect the next. Raft does not mind,
//! since an old leader can commit nothing; whoever acts without the log has to take the term along, as a fence, or to wait
//! for a lease.

mod leader;
mod message;
#[cfg(test)]
mod tests;
mod vote;

pub use message::Message;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::time::Duration;

use super::{Broken, Config, Contender, Envelope, Event, Peer, Timer};
use crate::Time;

/// One node of Raft, without its log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Raft {
    config: Config,
    /// The part that survives a crash.
    disk: Disk,
    role: Role,
    /// Time at which a valid leader was last heard. `None`: never since the start.
    heard: Option<Time>,
    /// Time at which an election begins unless a leader is heard or a vote given.
    election_at: Time,
    /// Number of random timeouts drawn so far.
    drawn: u64,
}

/// State that is written to disk before any message is answered (the paper's Figure 2, "persistent state").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Disk {
    term: u64,
    voted_for: Option<Peer>,
}

/// The paper's states of a server, with the thesis's candidate before the vote.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Role {
    Follower,
    /// Asks who would vote for it.
    PreCandidate {
        votes: BTreeSet<Peer>,
    },
    Candidate {
        votes: BTreeSet<Peer>,
    },
    Leader {
        /// Time at which each other node last answered a heartbeat.
        answered: BTreeMap<Peer, Time>,
        heartbeat_at: Time,
    },
}

impl Raft {
    /// A node that starts for the first time.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self::with_disk(config, Disk::default())
    }

    fn with_disk(config: Config, disk: Disk) -> Self {
        let (role, heard) = (Role::Follower, None);
        Self { config, disk, role, heard, election_at: Time::ZERO + config.silence, drawn: 0 }
    }

    /// The term that this node is in.
    #[must_use]
    pub const fn term(&self) -> u64 {
        self.disk.term
    }

    fn is_leader(&self) -> bool {
        matches!(self.role, Role::Leader { .. })
    }

    /// Section 5.2: election timeouts are chosen randomly from a fixed interval, so that split votes are rare. The
    /// interval is one to two silences.
    fn wait_for_leader(&mut self, now: Time) {
        self.drawn = self.drawn.wrapping_add(1);
        // SplitMix64 (Steele, Lea, Flood 2014).
        let mut z = self.config.seed.wrapping_add(self.drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let longest = u64::try_from(self.config.silence.as_millis()).unwrap_or(u64::MAX).max(1);
        self.election_at = now + self.config.silence + Duration::from_millis(z % longest);
    }

    /// Section 5.1: whoever sees a higher term adopts it, and is a follower.
    fn adopt(&mut self, now: Time, term: u64) {
        if term > self.disk.term {
            self.disk = Disk { term, voted_for: None };
            self.follow(now);
        }
    }

    fn follow(&mut self, now: Time) {
        if self.role != Role::Follower {
            self.role = Role::Follower;
            self.wait_for_leader(now);
        }
    }

    fn received(&mut self, now: Time, from: Peer, message: Message, out: &mut Vec<Envelope<Message>>) {
        if message.shows_term_of_sender() {
            self.adopt(now, message.term());
        }
        match message {
            Message::AskPreVote { term } => self.asked_before_vote(now, from, term, out),
            Message::PreVote { term, granted } => self.told_before_vote(now, from, term, granted, out),
            Message::AskVote { term } => self.asked_for_vote(now, from, term, out),
            Message::Vote { term, granted } => self.voted(now, from, term, granted, out),
            Message::Heartbeat { term } => self.heartbeat(now, from, term, out),
            Message::HeartbeatTaken { term } => self.heartbeat_taken(now, from, term),
        }
    }

    fn wake(&mut self, now: Time, out: &mut Vec<Envelope<Message>>) {
        match &self.role {
            Role::Leader { .. } => self.lead_on(now, out),
            Role::Follower | Role::PreCandidate { .. } | Role::Candidate { .. } if self.election_at <= now => {
                self.ask_before_vote(now, out);
            }
            Role::Follower | Role::PreCandidate { .. } | Role::Candidate { .. } => {}
        }
    }
}

impl Contender for Raft {
    type Message = Message;

    fn handle(&mut self, now: Time, event: Event<Message>, out: &mut Vec<Envelope<Message>>) {
        match event {
            // "When servers start up, they begin as followers" (5.2).
            Event::Start => self.wait_for_leader(now),
            Event::Received { from, message } => self.received(now, from, message, out),
            Event::ClockSet { .. } => {}
            Event::Wake => self.wake(now, out),
        }
    }

    fn next_deadline(&self) -> Option<(Time, Timer)> {
        Some(match &self.role {
            Role::Leader { heartbeat_at, .. } => {
                let (lost_at, heartbeat_at) = (self.majority_lost_at(), *heartbeat_at);
                if lost_at < heartbeat_at { (lost_at, Timer::Silence) } else { (heartbeat_at, Timer::Heartbeat) }
            }
            Role::Follower => (self.election_at, Timer::Silence),
            Role::PreCandidate { .. } | Role::Candidate { .. } => (self.election_at, Timer::Answers),
        })
    }

    fn check(&self) -> Result<(), Broken> {
        let is_wrong = match &self.role {
            Role::Follower | Role::PreCandidate { .. } => false,
            Role::Candidate { .. } | Role::Leader { .. } => self.disk.voted_for != Some(self.config.me),
        };
        if is_wrong { Err(Broken::LeadsWithoutRight) } else { Ok(()) }
    }

    fn leads_until(&self) -> Option<Time> {
        self.is_leader().then_some(Time::MAX)
    }

    /// Term and vote are read from the disk.
    fn restarted(&self, seed: u64) -> Box<dyn Contender<Message = Message>> {
        Box::new(Self::with_disk(Config { seed, ..self.config }, self.disk))
    }
}
