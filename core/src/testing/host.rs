//! One node and its surroundings.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use crate::observe::NodeJudge;
use crate::store::{Request, Server};
use crate::{Config, Event, Fence, Node, Objection, OpId, Session, Time, Violation};

use super::LATENCY;

/// A node and what surrounds it: its driver, its process and its link.
#[derive(Debug)]
pub struct Host {
    /// The node.
    pub node: Node,
    pub(super) judge: NodeJudge,
    /// Number of the process's life: messages to an earlier life are lost.
    pub(super) life: u32,
    pub(super) session: Option<Session>,
    pub(super) linked: bool,
    /// True if its packets get through.
    pub(super) reachable: bool,
    /// True while the process is paused; events wait in its mailbox meanwhile.
    pub(super) paused: bool,
    pub(super) mailbox: VecDeque<Event>,
    pub(super) next_ping: Time,
    pub(super) gate: Option<(Fence, Time)>,
    /// The server that the client connects to.
    pub server: Server,
    /// Error of the clock, in parts per million; positive if it is too fast.
    pub clock_ppm: i64,
    /// Number of service starts that will fail.
    pub failing_starts: u32,
    /// Time that a service takes to start.
    pub start_takes: Duration,
    /// Time that a service takes to stop.
    pub stop_takes: Duration,
    /// State of its process.
    pub outcome: Outcome,
    /// Kind of requests whose answers are lost, although the store carries them out.
    pub loses: Option<fn(&Request) -> bool>,
    pub(super) lost: Vec<OpId>,
    /// Delay of answers, beyond that of other messages.
    pub answers_take: Duration,
    /// True if it was last told that it wants to lead.
    pub(super) willing: bool,
    /// Kind of events that are held back until they are released.
    pub holds: Option<fn(&Event) -> bool>,
    pub(super) held: VecDeque<Event>,
    /// Every request so far.
    pub asked: Vec<(OpId, Request)>,
    /// Arrival of the last event about the session: such events keep their order.
    pub(super) session_news_at: Time,
}

/// State of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It runs.
    Runs,
    /// It crashed.
    Crashed,
    /// It ended in good order.
    Exited,
    /// It refused its configuration.
    Refused(Objection),
    /// It ended since a promise was broken.
    Halted(Violation),
}

impl Host {
    pub(super) fn new(config: Config, life: u32, server: Server) -> Self {
        Self {
            node: Node::new(config),
            judge: NodeJudge::new(),
            life,
            session: None,
            linked: false,
            reachable: true,
            paused: false,
            mailbox: VecDeque::new(),
            next_ping: Time::MAX,
            gate: None,
            server,
            clock_ppm: 0,
            failing_starts: 0,
            start_takes: 5 * LATENCY,
            stop_takes: 5 * LATENCY,
            outcome: Outcome::Runs,
            loses: None,
            lost: Vec::new(),
            answers_take: Duration::ZERO,
            willing: true,
            holds: None,
            held: VecDeque::new(),
            asked: Vec::new(),
            session_news_at: Time::ZERO,
        }
    }

    /// Time on its clock at a true time.
    pub(super) fn clock(&self, truly: Time) -> Time {
        let nanos = i128::from(truly.as_nanos());
        let shown = nanos + nanos * i128::from(self.clock_ppm) / 1_000_000;
        Time::from_nanos(u64::try_from(shown.max(0)).unwrap_or(u64::MAX))
    }

    /// The first true time at which its clock shows `at` or more.
    pub(super) fn true_time(&self, at: Time) -> Time {
        let nanos = i128::from(at.as_nanos());
        let guess = nanos * 1_000_000 / (1_000_000 + i128::from(self.clock_ppm));
        let mut truly = Time::from_nanos(u64::try_from(guess.max(2) - 2).unwrap_or(u64::MAX));
        while self.clock(truly) < at && truly < Time::MAX {
            truly = truly + Duration::from_nanos(1);
        }
        truly
    }

    /// Its open gate, if a leader-only act could begin at this true time.
    pub(super) fn open_gate(&self, now: Time) -> Option<Fence> {
        self.gate.filter(|(_, until)| self.clock(now) < *until).map(|(fence, _)| fence)
    }

    pub(super) fn is_up(&self) -> bool {
        self.outcome == Outcome::Runs && !self.paused
    }

    /// True while its client is connected in this session.
    pub fn is_connected_with(&self, session: Session) -> bool {
        self.linked && self.session == Some(session)
    }

    /// True time at which it wants to wake.
    pub(super) fn wakes_at(&self) -> Option<Time> {
        self.node.next_deadline().map(|(at, _)| self.true_time(at))
    }

    /// Id of the newest request of a kind.
    pub fn newest(&self, kind: impl Fn(&Request) -> bool) -> OpId {
        let found = self.asked.iter().rev().find(|(_, request)| kind(request));
        found.expect("it asked for that").0
    }

    /// Number of requests of a kind.
    pub fn count(&self, kind: impl Fn(&Request) -> bool) -> usize {
        self.asked.iter().filter(|(_, request)| kind(request)).count()
    }

    /// Number of writes without heartbeats, which depend on time alone.
    pub fn writes(&self) -> usize {
        self.count(|request| request.effect().is_caused())
    }
}
