//! Several nodes, the pure store and a virtual clock in one thread: every message takes a millisecond, nothing is random.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rolecall_core::observe::{Cluster, Observer};
use rolecall_core::store::{self, Answer, Client, Machine, Output, Refusal, Request, Server, Timing};
use rolecall_core::{Action, Config, Event, Fence, Node, Objection, Role, Session, Time, Trace};

/// How long a message is on its way.
pub(crate) const LATENCY: Duration = Duration::from_millis(1);
/// The session timeout of every node.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(200);

pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) store: Machine,
    pub(crate) trace: Trace,
    pub(crate) hosts: BTreeMap<&'static str, Host>,
    cluster: Cluster,
    wires: BTreeMap<(Time, u64), Delivery>,
    sent: u64,
}

/// One node and what is around it.
pub(crate) struct Host {
    pub(crate) node: Node,
    observer: Observer,
    /// Which life of the process this is: messages to an earlier one are lost.
    life: u32,
    lives: u32,
    session: Option<Session>,
    linked: bool,
    /// Whether its packets get through.
    reachable: bool,
    /// Whether the process runs; what arrives meanwhile waits.
    paused: bool,
    mailbox: VecDeque<Event>,
    next_ping: Time,
    gate: Option<(Fence, Time)>,
    /// Starts of a service that fail from now on.
    pub(crate) failing_starts: u32,
    /// How long services take to stop.
    pub(crate) stop_takes: Duration,
    pub(crate) outcome: Outcome,
    /// Answers to requests of this kind are lost: the store does what is asked, the node never hears.
    pub(crate) loses: Option<fn(&Request) -> bool>,
    lost: Vec<rolecall_core::OpId>,
    /// Everything that it gave to the store.
    pub(crate) requests: Vec<Request>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Runs,
    Crashed,
    Exited,
    Refused(Objection),
}

enum Delivery {
    Store(store::Event),
    Node(&'static str, u32, Event),
    Reconnect(&'static str, u32),
}

impl World {
    /// A store of one server, and no nodes yet.
    pub(crate) fn new() -> Self {
        Self::with_servers(1)
    }

    pub(crate) fn with_servers(servers: u8) -> Self {
        Self {
            now: Time::from_millis(1_000),
            store: Machine::new(Timing::bounded(TICK), servers),
            trace: Trace::new(),
            hosts: BTreeMap::new(),
            cluster: Cluster::new(),
            wires: BTreeMap::new(),
            sent: 0,
        }
    }

    /// Starts a node, or a crashed one again: nothing of its earlier life is remembered.
    pub(crate) fn start(&mut self, name: &'static str) {
        self.start_with(name, |_| {});
    }

    pub(crate) fn start_with(&mut self, name: &'static str, configure: impl FnOnce(&mut Config)) {
        let mut config = Config::new(name);
        config.store_tick = Some(TICK);
        configure(&mut config);
        let lives = self.hosts.get(name).map_or(0, |host| host.lives) + 1;
        let host = Host {
            node: Node::new(config),
            observer: Observer::new(),
            life: lives,
            lives,
            session: None,
            linked: false,
            reachable: true,
            paused: false,
            mailbox: VecDeque::new(),
            next_ping: Time::MAX,
            gate: None,
            failing_starts: 0,
            stop_takes: 5 * LATENCY,
            outcome: Outcome::Runs,
            loses: None,
            lost: Vec::new(),
            requests: Vec::new(),
        };
        self.hosts.insert(name, host);
        self.trace.note(self.now, name, "starts");
        self.connect(name);
    }

    pub(crate) fn host(&mut self, name: &str) -> &mut Host {
        self.hosts.get_mut(name).expect("the test started it")
    }

    pub(crate) fn node(&self, name: &str) -> &Node {
        &self.hosts[name].node
    }

    /// The process is gone, and its connection with it.
    pub(crate) fn crash(&mut self, name: &'static str) {
        self.trace.note(self.now, name, "crashes");
        let host = self.host(name);
        host.outcome = Outcome::Crashed;
        host.gate = None;
        self.hang_up(name);
    }

    /// The link breaks and stays broken; the node is told at once.
    pub(crate) fn cut(&mut self, name: &'static str) {
        self.trace.note(self.now, name, "is cut off from the store");
        self.host(name).reachable = false;
        if self.host(name).linked {
            self.hang_up(name);
            self.deliver(name, Event::Suspended);
        }
    }

    /// The link can be made again.
    pub(crate) fn heal(&mut self, name: &'static str) {
        self.trace.note(self.now, name, "can reach the store again");
        self.host(name).reachable = true;
        self.connect(name);
    }

    /// Stops the process, clock and all, as SIGSTOP does: its pings stop too.
    pub(crate) fn pause(&mut self, name: &'static str) {
        self.trace.note(self.now, name, "is paused");
        self.host(name).paused = true;
    }

    pub(crate) fn resume(&mut self, name: &'static str) {
        self.trace.note(self.now, name, "goes on");
        self.host(name).paused = false;
        while let Some(event) = self.host(name).mailbox.pop_front() {
            self.deliver(name, event);
        }
    }

    /// Hands an event to a node now.
    pub(crate) fn deliver(&mut self, name: &'static str, event: Event) {
        let now = self.now;
        let host = self.host(name);
        if host.outcome != Outcome::Runs {
            return;
        }
        if host.paused {
            host.mailbox.push_back(event);
            return;
        }
        let before = host.node.clone();
        let mut actions = Vec::new();
        host.node.handle(now, event.clone(), &mut actions);
        let judged = host.observer.step(&before, now, &event, &actions, &host.node);
        self.trace.record(now, name, &event, &actions);
        if let Err(violation) = judged {
            panic!("{name}: {violation:?}\n{}", self.trace.text());
        }
        for action in actions {
            self.act(name, action);
        }
        self.judge_gates();
    }

    fn judge_gates(&mut self) {
        for (name, host) in &self.hosts {
            // A paused process begins nothing; its gate is judged when it goes on.
            let open = host.gate.filter(|(_, until)| self.now < *until && !host.paused).map(|(fence, _)| fence);
            if let Err(violation) = self.cluster.gate(self.now, &Arc::from(*name), open) {
                panic!("{name}: {violation:?}\n{}", self.trace.text());
            }
        }
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
                self.send_to_node(name, 5 * LATENCY, event);
            }
            Action::StopService { run, .. } => {
                let takes = self.host(name).stop_takes;
                self.send_to_node(name, takes, Event::ServiceStopped { run });
            }
            Action::RenewSession => {
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
            Action::Halt(violation) => panic!("{name}: {violation:?}\n{}", self.trace.text()),
        }
    }

    fn ask(&mut self, name: &'static str, id: rolecall_core::OpId, request: Request) {
        let host = self.host(name);
        host.requests.push(request.clone());
        if host.loses.is_some_and(|loses| loses(&request)) {
            host.lost.push(id);
        }
        match host.session.filter(|_| host.linked) {
            Some(session) => self.wire(LATENCY, Delivery::Store(store::Event::Request { session, id, request })),
            None => {
                let answer = Answer::Refused(Refusal::Disconnected);
                self.send_to_node(name, LATENCY, Event::Answered { id, answer });
            }
        }
    }

    fn connect(&mut self, name: &'static str) {
        let host = self.host(name);
        if !host.reachable || host.linked || host.outcome != Outcome::Runs {
            return;
        }
        let client = Client { id: name.into(), address: format!("{name}:80").into() };
        let connect = store::Event::Connect { server: Server(0), client, previous: host.session, timeout: TIMEOUT };
        self.wire(LATENCY, Delivery::Store(connect));
    }

    fn hang_up(&mut self, name: &'static str) {
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

    fn send_to_node(&mut self, name: &'static str, delay: Duration, event: Event) {
        let life = self.hosts[name].life;
        self.wire(delay, Delivery::Node(name, life, event));
    }

    /// Hands an event to the store now, and what it says to the nodes.
    pub(crate) fn give(&mut self, event: store::Event) {
        let client = if let store::Event::Connect { client, .. } = &event { Some(client.id.clone()) } else { None };
        let mut out = Vec::new();
        self.store.handle(self.now, event, &mut out);
        self.store.check().expect("the store keeps its invariants");
        for output in out {
            self.tell(client.as_deref(), output);
        }
    }

    fn tell(&mut self, connecting: Option<&str>, output: Output) {
        match output {
            Output::Connected { session, timeout } => {
                let name = connecting.expect("only a connect is answered so");
                let (&name, host) = self.hosts.get_key_value(name).expect("it connected");
                if !host.reachable || host.outcome != Outcome::Runs {
                    return self.give(store::Event::Disconnect { session });
                }
                let now = self.now;
                let host = self.host(name);
                (host.session, host.linked, host.next_ping) = (Some(session), true, now + timeout / 3);
                let entropy = session.0;
                self.send_to_node(name, LATENCY, Event::SessionUp { session, timeout, entropy });
            }
            Output::Expired { session } => {
                let Some(name) = self.owner(session) else { return };
                let host = self.host(name);
                (host.session, host.linked, host.next_ping) = (None, false, Time::MAX);
                self.send_to_node(name, LATENCY, Event::SessionLost);
                let life = self.hosts[name].life;
                self.wire(LATENCY, Delivery::Reconnect(name, life));
            }
            Output::Rejected { .. } => {}
            Output::Disconnected { session } => {
                let Some(name) = self.owner(session) else { return };
                let host = self.host(name);
                (host.linked, host.next_ping) = (false, Time::MAX);
                self.send_to_node(name, LATENCY, Event::Suspended);
                let life = self.hosts[name].life;
                self.wire(10 * LATENCY, Delivery::Reconnect(name, life));
            }
            Output::Answered { session, id, answer } => {
                let Some(name) = self.owner(session) else { return };
                if !self.host(name).lost.contains(&id) {
                    self.send_to_node(name, LATENCY, Event::Answered { id, answer });
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

    /// Lets so much time pass.
    pub(crate) fn run(&mut self, length: Duration) {
        let end = self.now + length;
        while let Some(at) = self.next_instant().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.turn();
        }
        self.now = end;
        self.judge_gates();
    }

    /// Lets time pass until something holds.
    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let limit = self.now + Duration::from_secs(120);
        while !holds(self) {
            let at = self.next_instant().filter(|at| *at < limit);
            self.now = self.now.max(at.unwrap_or_else(|| panic!("never {what}\n{}", self.trace.text())));
            self.turn();
        }
    }

    fn next_instant(&self) -> Option<Time> {
        let wire = self.wires.keys().next().map(|(at, _)| *at);
        let running = || self.hosts.values().filter(|host| host.outcome == Outcome::Runs && !host.paused);
        let wakes = running().filter_map(|host| host.node.next_deadline()).map(|(at, _)| at);
        let pings = running().map(|host| host.next_ping).filter(|at| *at < Time::MAX);
        wakes.chain(pings).chain(wire).chain(self.store.next_deadline()).min()
    }

    fn turn(&mut self) {
        if self.store.next_deadline().is_some_and(|at| at <= self.now) {
            self.give(store::Event::Wake);
        }
        let names: Vec<_> = self.hosts.keys().copied().collect();
        for name in names {
            self.turn_host(name);
        }
        while let Some(entry) = self.wires.first_entry().filter(|entry| entry.key().0 <= self.now) {
            match entry.remove() {
                Delivery::Store(event) => self.give(event),
                Delivery::Node(name, life, event) if self.hosts[name].life == life => self.deliver(name, event),
                Delivery::Reconnect(name, life) if self.hosts[name].life == life => self.connect(name),
                Delivery::Node(..) | Delivery::Reconnect(..) => {}
            }
        }
    }

    fn turn_host(&mut self, name: &'static str) {
        let now = self.now;
        let host = self.host(name);
        if host.outcome != Outcome::Runs || host.paused {
            return;
        }
        if host.next_ping <= now {
            host.next_ping = now + TIMEOUT / 3;
            if let Some(session) = host.session {
                self.give(store::Event::Ping { session });
            }
        }
        if self.hosts[name].node.next_deadline().is_some_and(|(at, _)| at <= now) {
            self.deliver(name, Event::Wake);
        }
    }

    pub(crate) fn role(&self, name: &str) -> Role {
        self.hosts[name].node.role()
    }

    /// Who could begin a leader-only act now.
    pub(crate) fn leaders(&self) -> Vec<&'static str> {
        let open = |host: &Host| host.gate.is_some_and(|(_, until)| self.now < until) && host.outcome == Outcome::Runs;
        self.hosts.iter().filter(|(_, host)| open(host)).map(|(name, _)| *name).collect()
    }

    /// Starts nodes one after the other, each once the one before serves.
    pub(crate) fn start_in_order(&mut self, names: &[&'static str]) {
        for name in names {
            self.start(name);
            self.until("served", |world| world.role(name) != Role::None);
            self.run(20 * LATENCY);
        }
    }

    /// Forgets the lines so far, so that a test shows its own part only.
    pub(crate) fn fresh_trace(&mut self) {
        self.trace.restart();
    }
}
