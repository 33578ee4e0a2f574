//! The wires between all processes.

use alloc::collections::BTreeMap;
use core::time::Duration;

use crate::Time;
use crate::election::textbook::Peer;
use crate::testing::Dice;

/// Kind of connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// Messages between nodes: what is lost is lost, and a late one is overtaken.
    Datagrams,
    /// A connection to a store: what is lost is sent again and keeps its order, so that it only comes late.
    Stream,
}

/// Fate of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    /// It gets through.
    Open,
    /// It is lost.
    Lost,
    /// It is sent again, until this time.
    Until(Time),
}

/// Time that a message takes.
const LATENCY: Duration = Duration::from_millis(1);

/// The network, with what is wrong with it.
#[derive(Debug)]
pub(super) struct Network {
    transport: Transport,
    dice: Dice,
    /// Groups of nodes that nothing passes out of or into, with the ends of those times.
    splits: BTreeMap<u64, (u32, Time)>,
    made: u64,
    lossy_until: Time,
    late: (Duration, Time),
    /// Arrival of the last message on each wire.
    last: BTreeMap<(Peer, Peer), Time>,
}

impl Network {
    pub(super) fn new(transport: Transport, seed: u64) -> Self {
        Self {
            transport,
            dice: Dice::new(!seed),
            splits: BTreeMap::new(),
            made: 0,
            lossy_until: Time::ZERO,
            late: (Duration::ZERO, Time::ZERO),
            last: BTreeMap::new(),
        }
    }

    pub(super) fn split(&mut self, nodes: u32, until: Time) {
        self.made += 1;
        self.splits.insert(self.made, (nodes, until));
    }

    pub(super) fn lose_until(&mut self, until: Time) {
        self.lossy_until = self.lossy_until.max(until);
    }

    pub(super) fn delay_until(&mut self, by: Duration, until: Time) {
        self.late = (by, until);
    }

    /// Time at which a message arrives that is sent now; `None` if it is lost.
    pub(super) fn arrival(&mut self, now: Time, from: Peer, to: Peer) -> Option<Time> {
        self.splits.retain(|_, (_, until)| *until > now);
        let mut at = now + LATENCY;
        let is_lossy = now < self.lossy_until && self.dice.one_in(5);
        let is_late = now < self.late.1 && self.dice.one_in(2);
        if is_late {
            at = at + self.dice.millis(0, u64::try_from(self.late.0.as_millis()).unwrap_or(0));
        }
        let open_at = self.open_at(from, to);
        match self.transport {
            Transport::Datagrams if is_lossy || open_at.is_some() => return None,
            Transport::Datagrams if is_late => return Some(at),
            Transport::Datagrams => {}
            Transport::Stream => {
                if is_lossy {
                    at = at + self.dice.millis(200, 1_000);
                }
                at = at.max(open_at.map_or(at, |open_at| open_at + LATENCY));
            }
        }
        let last = self.last.entry((from, to)).or_insert(at);
        *last = at.max(*last);
        Some(*last)
    }

    /// Fate of a message that arrives now.
    pub(super) fn passage(&self, from: Peer, to: Peer, now: Time) -> Passage {
        match (self.transport, self.open_at(from, to).filter(|open_at| *open_at > now)) {
            (_, None) => Passage::Open,
            (Transport::Datagrams, Some(_)) => Passage::Lost,
            (Transport::Stream, Some(open_at)) => Passage::Until(open_at),
        }
    }

    /// Time at which something passes again between two processes; `None` if it does now.
    fn open_at(&self, from: Peer, to: Peer) -> Option<Time> {
        let is_in = |nodes: u32, peer: Peer| nodes.checked_shr(u32::from(peer.0)).unwrap_or(0) & 1 == 1;
        let between = self.splits.values().filter(|(nodes, _)| is_in(*nodes, from) != is_in(*nodes, to));
        between.map(|(_, until)| *until).max()
    }
}
