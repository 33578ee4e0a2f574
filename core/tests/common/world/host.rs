//! One node and what is around it.

use std::collections::VecDeque;
use std::time::Duration;

use rolecall_core::observe::Observer;
use rolecall_core::store::{Request, Server};
use rolecall_core::{Config, Event, Fence, Node, Objection, OpId, Session, Time, Violation};

use super::LATENCY;

pub(crate) struct Host {
    pub(crate) node: Node,
    pub(super) observer: Observer,
    /// Which life of the process this is: messages to an earlier one are lost.
    pub(super) life: u32,
    pub(super) session: Option<Session>,
    pub(super) linked: bool,
    /// Whether its packets get through.
    pub(super) reachable: bool,
    /// Whether the process runs; what arrives meanwhile waits.
    pub(super) paused: bool,
    pub(super) mailbox: VecDeque<Event>,
    pub(super) next_ping: Time,
    pub(super) gate: Option<(Fence, Time)>,
    /// The server that it connects to.
    pub(crate) server: Server,
    /// By how much its clock is too fast, in parts per million.
    pub(crate) clock_ppm: i64,
    /// Starts of a service that fail from now on.
    pub(crate) failing_starts: u32,
    /// How long services take to start.
    pub(crate) start_takes: Duration,
    /// How long services take to stop.
    pub(crate) stop_takes: Duration,
    pub(crate) outcome: Outcome,
    /// Answers to requests of this kind are lost: the store does what is asked, the node never hears.
    pub(crate) loses: Option<fn(&Request) -> bool>,
    pub(super) lost: Vec<OpId>,
    /// How much longer answers are on their way to it than anything else.
    pub(crate) answers_take: Duration,
    /// Events of this kind are held back until they are released.
    pub(crate) holds: Option<fn(&Event) -> bool>,
    pub(super) held: VecDeque<Event>,
    /// Everything that it gave to the store.
    pub(crate) asked: Vec<(OpId, Request)>,
    /// When the last event about its session arrives: those keep their order.
    pub(super) session_news_at: Time,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Runs,
    Crashed,
    Exited,
    Refused(Objection),
    Halted(Violation),
}

impl Host {
    pub(super) fn new(config: Config, life: u32, server: Server) -> Self {
        Self {
            node: Node::new(config),
            observer: Observer::new(),
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
            holds: None,
            held: VecDeque::new(),
            asked: Vec::new(),
            session_news_at: Time::ZERO,
        }
    }

    /// What its clock shows at a true time.
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

    /// Whether it could begin a leader-only act at this true time.
    pub(super) fn open_gate(&self, now: Time) -> Option<Fence> {
        self.gate.filter(|(_, until)| self.clock(now) < *until).map(|(fence, _)| fence)
    }

    pub(super) fn is_up(&self) -> bool {
        self.outcome == Outcome::Runs && !self.paused
    }

    pub(crate) fn is_connected_with(&self, session: Session) -> bool {
        self.linked && self.session == Some(session)
    }

    /// When it wants to be woken, in true time.
    pub(super) fn wakes_at(&self) -> Option<Time> {
        self.node.next_deadline().map(|(at, _)| self.true_time(at))
    }

    /// The name of the newest request of a kind.
    pub(crate) fn newest(&self, kind: impl Fn(&Request) -> bool) -> OpId {
        let found = self.asked.iter().rev().find(|(_, request)| kind(request));
        found.expect("it asked for that").0
    }

    /// How many requests of a kind it has made.
    pub(crate) fn count(&self, kind: impl Fn(&Request) -> bool) -> usize {
        self.asked.iter().filter(|(_, request)| kind(request)).count()
    }

    /// Its writes but for heartbeats, which time alone paces.
    pub(crate) fn writes(&self) -> usize {
        self.count(|request| match request {
            Request::Enter { .. }
            | Request::Delete { .. }
            | Request::Claim { .. }
            | Request::Join { .. }
            | Request::Leave { .. }
            | Request::Settle { .. } => true,
            Request::Beat { .. }
            | Request::Sync
            | Request::List
            | Request::Inspect { .. }
            | Request::ReadTerm
            | Request::Verify { .. }
            | Request::Members { .. } => false,
        })
    }
}
