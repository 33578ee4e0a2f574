//! The cluster: it carries messages and lets time pass.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::observe::ClusterJudge;
use crate::store::{self, Answer, Client, Machine, Output, Refusal, Request, Server, Timing};
use crate::{Action, Config, Event, Family, OpId, Role, Session, Time, Trace, Violation};

use super::{Dice, Host, Outcome};

/// Time that a message takes.
pub const LATENCY: Duration = Duration::from_millis(1);
/// The session timeout of every node.
pub const TIMEOUT: Duration = Duration::from_secs(2);
/// The store's tick.
pub const TICK: Duration = Duration::from_millis(200);
/// Nodes, the store and the wires between them, under one clock.
#[derive(Debug)]
pub struct Cluster {
    /// The true time.
    pub now: Time,
    /// The store.
    pub store: Machine,
    servers: u8,
    /// Events and actions so far, as text.
    pub trace: Trace,
    /// Nodes that were ever started, by name.
    pub hosts: BTreeMap<&'static str, Host>,
    pub(super) judge: ClusterJudge,
    /// Time until which two may lead at once, since an outsider has taken a leader's candidate away: only epochs help
    /// there (P14).
    pub(super) excused_until: Time,
    /// Sessions of other kinds of clients, which ping for as long as they stay.
    pub(super) strangers: Vec<Session>,
    pub(super) next_strangers_ping: Time,
    wires: BTreeMap<(Time, u64), Delivery>,
    sent: u64,
    /// Random delays of messages to nodes, which so overtake each other.
    pub jitter: Option<Dice>,
    /// True if the trace is kept, which takes most of the time of a long run.
    pub is_traced: bool,
}

#[derive(Debug)]
enum Delivery {
    Store(store::Event),
    Node(&'static str, u32, Event),
    Connect(&'static str, u32),
}

impl Default for Cluster {
    fn default() -> Self {
        Self::new()
    }
}

impl Cluster {
    /// A store of one server, without nodes.
    pub fn new() -> Self {
        Self::with_servers(1)
    }

    /// A store of this many servers, without nodes.
    #[must_use]
    pub fn with_servers(servers: u8) -> Self {
        Self::on(Machine::new(Timing::bounded(TICK), servers), servers)
    }

    /// A store that elects by a lease, without nodes.
    #[must_use]
    pub fn with_lease() -> Self {
        Self::on(Machine::with_lease(Timing::unbounded(Duration::ZERO)), 1)
    }

    fn on(store: Machine, servers: u8) -> Self {
        Self {
            now: Time::from_millis(1_000),
            store,
            servers,
            trace: Trace::new(),
            hosts: BTreeMap::new(),
            judge: ClusterJudge::new(),
            excused_until: Time::ZERO,
            strangers: Vec::new(),
            next_strangers_ping: Time::MAX,
            wires: BTreeMap::new(),
            sent: 0,
            jitter: None,
            is_traced: true,
        }
    }

    /// Starts a node, or a crashed one again, which remembers nothing of its earlier life.
    pub fn start(&mut self, name: &'static str) {
        self.start_with(name, |_| {});
    }

    /// Starts a node whose configuration is changed first.
    pub fn start_with(&mut self, name: &'static str, configure: impl FnOnce(&mut Config)) {
        let mut config = Config::new(name);
        config.election = match self.store.family() {
            Family::Queue => crate::election::Timing::queue(TICK),
            Family::Lease => crate::election::Timing::LEASE,
        };
        configure(&mut config);
        let earlier = self.hosts.get(name);
        let life = earlier.map_or(0, |host| host.life) + 1;
        let server = earlier.map_or(Server(0), |host| host.server);
        let mut host = Host::new(config, life, server);
        host.clock_ppm = earlier.map_or(0, |host| host.clock_ppm);
        self.hosts.insert(name, host);
        self.trace.note(self.now, name, "starts");
        self.connect(name);
    }

    /// The surroundings of a node.
    ///
    /// # Panics
    /// If no node of that name was ever started.
    pub fn host(&mut self, name: &str) -> &mut Host {
        self.hosts.get_mut(name).expect("the test started it")
    }

    /// Delivers an event to a node now.
    pub fn deliver(&mut self, name: &'static str, event: Event) {
        let truly = self.now;
        let host = self.host(name);
        if host.outcome != Outcome::Runs {
            return;
        }
        if host.paused {
            host.mailbox.push_back(event);
            return;
        }
        if host.holds.is_some_and(|holds| holds(&event)) {
            host.held.push_back(event);
            return;
        }
        let now = host.clock(truly);
        let before = host.node.clone();
        let mut actions = Vec::new();
        host.node.handle(now, event.clone(), &mut actions);
        let judged = host.judge.step(&before, now, &event, &actions, &host.node);
        if self.is_traced {
            self.trace.record(truly, name, &event, &actions);
        }
        // A service that does not stop is the application's fault, and the node halts as it should.
        if let Err(violation) = judged
            && violation != Violation::StopOverran
        {
            panic!("{name}: {violation:?}\n{}", self.trace.text());
        }
        for action in actions {
            self.act(name, action);
        }
        self.judge_gates();
    }

    fn act(&mut self, name: &'static str, action: Action) {
        match action {
            Action::Store { id, request } => self.ask(name, id, request),
            Action::OpenGate { fence, until } => self.host(name).gate = Some((fence, until)),
            Action::CloseGate => self.host(name).gate = None,
            Action::StartService { run, .. } => {
                let host = self.host(name);
                let fails = host.failing_starts > 0;
                host.failing_starts = host.failing_starts.saturating_sub(1);
                let event = if fails { Event::ServiceFailed { run } } else { Event::ServiceStarted { run } };
                let takes = host.start_takes;
                self.send_to_node(name, takes, event);
            }
            Action::StopService { run, .. } => {
                let takes = self.host(name).stop_takes;
                self.send_to_node(name, takes, Event::ServiceStopped { run });
            }
            Action::RenewSession | Action::StartAfresh(_) => {
                self.hang_up(name);
                self.host(name).session = None;
                self.connect(name);
            }
            Action::CloseSession => {
                if let Some(session) = self.host(name).session.filter(|_| self.hosts[name].linked) {
                    self.wire(LATENCY, Delivery::Store(store::Event::Close { session }));
                }
            }
            Action::Exit => self.host(name).outcome = Outcome::Exited,
            Action::Refuse(objection) => self.host(name).outcome = Outcome::Refused(objection),
            Action::Floor(_) | Action::Announce(_) => {}
            Action::Halt(violation) => {
                self.host(name).outcome = Outcome::Halted(violation);
                self.hang_up(name);
            }
        }
    }

    fn ask(&mut self, name: &'static str, id: OpId, request: Request) {
        let host = self.host(name);
        host.asked.push((id, request.clone()));
        if host.loses.is_some_and(|loses| loses(&request)) {
            host.lost.push(id);
        }
        // The client of an earlier session sends nothing any more.
        let believed = host.node.session().map(|(session, _)| session);
        match host.session.filter(|session| host.linked && believed == Some(*session)) {
            Some(session) => self.wire(LATENCY, Delivery::Store(store::Event::Request { session, id, request })),
            None => {
                let answer = Answer::Refused(Refusal::Disconnected);
                self.send_to_node(name, LATENCY, Event::Answered { id, answer });
            }
        }
    }

    pub(super) fn connect(&mut self, name: &'static str) {
        let life = self.hosts[name].life;
        self.wire(LATENCY, Delivery::Connect(name, life));
    }

    /// Connects a client that has reached the store.
    fn come_in(&mut self, name: &'static str) {
        let host = self.host(name);
        if !host.reachable || host.linked || !host.is_up() {
            return;
        }
        let id = &host.node.config().id;
        let client = Client { id: Arc::clone(id), address: format!("{id}:80").into(), metadata: Default::default() };
        let connect = store::Event::Connect { server: host.server, client, previous: host.session, timeout: TIMEOUT };
        self.hand_over(Some(name), connect);
    }

    pub(super) fn hang_up(&mut self, name: &'static str) {
        let host = self.host(name);
        host.linked = false;
        host.next_ping = Time::MAX;
        if let Some(session) = host.session {
            self.give(store::Event::Disconnect { session });
        }
    }

    fn wire(&mut self, delay: Duration, delivery: Delivery) {
        self.sent += 1;
        self.wires.insert((self.now + delay, self.sent), delivery);
    }

    /// Sends an event to a node. Events of the session keep their order; answers, notices and the rest come by roads of
    /// their own.
    pub(super) fn send_to_node(&mut self, name: &'static str, delay: Duration, event: Event) {
        let late = self.jitter.as_mut().map_or(Duration::ZERO, |dice| dice.millis(0, 6));
        let mut at = self.now + delay + late;
        let host = self.host(name);
        if event.is_session_news() {
            at = at.max(host.session_news_at);
            host.session_news_at = at;
        }
        let life = host.life;
        self.wire(at.since(self.now), Delivery::Node(name, life, event));
    }

    /// Gives an event to the store now, and passes its outputs on to the nodes.
    pub fn give(&mut self, event: store::Event) {
        self.hand_over(None, event);
    }

    fn hand_over(&mut self, connecting: Option<&'static str>, event: store::Event) {
        let mut out = Vec::new();
        self.store.handle(self.now, event, &mut out);
        self.store.check().expect("the store keeps its invariants");
        for output in out {
            self.tell(connecting, output);
        }
    }

    fn tell(&mut self, connecting: Option<&'static str>, output: Output) {
        match output {
            Output::Connected { session, timeout } => {
                let Some(name) = connecting else { return };
                let next_ping = self.now + self.store.ping_interval(timeout);
                let host = self.host(name);
                (host.session, host.linked, host.next_ping) = (Some(session), true, next_ping);
                let entropy = session.0;
                self.send_to_node(name, LATENCY, Event::SessionUp { session, timeout, entropy });
            }
            Output::Expired { session } => {
                let Some(name) = self.owner(session) else { return };
                let host = self.host(name);
                (host.session, host.linked, host.next_ping) = (None, false, Time::MAX);
                self.send_to_node(name, LATENCY, Event::SessionLost);
                self.connect(name);
            }
            Output::Rejected { server, .. } => {
                let Some(name) = connecting else { return };
                self.host(name).server = Server((server.0 + 1) % self.servers);
                let life = self.hosts[name].life;
                self.wire(50 * LATENCY, Delivery::Connect(name, life));
            }
            Output::Disconnected { session } => {
                let Some(name) = self.owner(session) else { return };
                let host = self.host(name);
                (host.linked, host.next_ping) = (false, Time::MAX);
                self.send_to_node(name, LATENCY, Event::Suspended);
                let life = self.hosts[name].life;
                self.wire(10 * LATENCY, Delivery::Connect(name, life));
            }
            Output::Answered { session, id, answer } => {
                let Some(name) = self.owner(session) else { return };
                if !self.host(name).lost.contains(&id) {
                    let takes = LATENCY + self.host(name).answers_take;
                    self.send_to_node(name, takes, Event::Answered { id, answer });
                }
            }
            Output::Noticed { session, id, notice } => {
                if let Some(name) = self.owner(session) {
                    self.send_to_node(name, LATENCY, Event::Noticed { id, notice });
                }
            }
            Output::Closed { .. } => {}
        }
    }

    fn owner(&self, session: Session) -> Option<&'static str> {
        self.hosts.iter().find(|(_, host)| host.session == Some(session)).map(|(name, _)| *name)
    }

    /// Lets this much time pass.
    pub fn run(&mut self, length: Duration) {
        self.advance_to(self.now + length);
    }

    /// Lets time pass until this moment: whatever is due until then happens, in order. A program that keeps real time
    /// waits until [`next_deadline`](Self::next_deadline) and advances to the time of its own clock.
    pub fn advance_to(&mut self, end: Time) {
        while let Some(at) = self.next_deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.turn();
        }
        self.now = self.now.max(end);
        self.judge_gates();
    }

    /// Lets time pass until a condition holds.
    pub fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let limit = self.now + Duration::from_secs(120);
        while !holds(self) {
            let at = self.next_deadline().filter(|at| *at < limit);
            self.now = self.now.max(at.unwrap_or_else(|| panic!("never {what}\n{}", self.trace.text())));
            self.turn();
        }
    }

    /// Time of the next thing that happens by itself; `None` if nothing does.
    pub fn next_deadline(&self) -> Option<Time> {
        let wire = self.wires.keys().next().map(|(at, _)| *at);
        let running = || self.hosts.values().filter(|host| host.is_up());
        let wakes = running().filter_map(Host::wakes_at);
        let pings = running().map(|host| host.next_ping).filter(|at| *at < Time::MAX);
        let strangers = Some(self.next_strangers_ping).filter(|_| !self.strangers.is_empty());
        wakes.chain(pings).chain(strangers).chain(wire).chain(self.store.next_deadline()).min()
    }

    pub(super) fn turn(&mut self) {
        if self.store.next_deadline().is_some_and(|at| at <= self.now) {
            self.give(store::Event::Wake);
        }
        if !self.strangers.is_empty() && self.next_strangers_ping <= self.now {
            self.next_strangers_ping = self.now + TIMEOUT / 3;
            for session in self.strangers.clone() {
                self.give(store::Event::Ping { session });
            }
        }
        let names: Vec<_> = self.hosts.keys().copied().collect();
        for name in names {
            self.turn_host(name);
        }
        while let Some(entry) = self.wires.first_entry().filter(|entry| entry.key().0 <= self.now) {
            match entry.remove() {
                Delivery::Store(event) => self.give(event),
                Delivery::Node(name, life, event) if self.hosts[name].life == life => self.deliver(name, event),
                Delivery::Connect(name, life) if self.hosts[name].life == life => self.come_in(name),
                Delivery::Node(..) | Delivery::Connect(..) => {}
            }
        }
    }

    fn turn_host(&mut self, name: &'static str) {
        let now = self.now;
        let next_ping = now + self.store.ping_interval(TIMEOUT);
        let host = self.host(name);
        if !host.is_up() {
            return;
        }
        if host.next_ping <= now {
            host.next_ping = next_ping;
            if let Some(session) = host.session {
                self.give(store::Event::Ping { session });
            }
        }
        if self.hosts[name].wakes_at().is_some_and(|at| at <= now) {
            self.deliver(name, Event::Wake);
        }
    }

    /// Starts nodes one after the other, each once the one before serves.
    pub fn start_in_order(&mut self, names: &[&'static str]) {
        for name in names {
            self.start(name);
            self.until("served", |cluster| cluster.role(name) != Role::None);
            self.run(20 * LATENCY);
        }
    }

    /// Drops the trace so far, so that a test shows its own part only.
    pub fn fresh_trace(&mut self) {
        self.trace.restart();
    }
}
