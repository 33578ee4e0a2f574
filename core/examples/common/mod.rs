//! Common parts of both examples: the pure store machine, shared by several nodes, with their trace; one node between
//! two events; and the story. Each example has its own way to queue events and to let time pass.

#![allow(clippy::disallowed_types, reason = "an example is a driver: it is the one to read the clock")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rolecall_core::store::{self, Client, Machine, Output, Server, Timing};
use rolecall_core::{Action, Config, Event, Node, Role, Session, Time, Trace};

/// Session timeout: short, so that the example is too.
const TIMEOUT: Duration = Duration::from_millis(800);

/// The store, and a mailbox for each node. The type of mailbox depends on the example's runtime.
pub(crate) struct Shared<M> {
    machine: Machine,
    mailboxes: BTreeMap<Session, M>,
    trace: Trace,
    began: Instant,
}

impl<M: Fn(Event)> Shared<M> {
    pub(crate) fn new() -> Self {
        let machine = Machine::new(Timing::bounded(Duration::from_millis(100)), 1);
        Self { machine, mailboxes: BTreeMap::new(), trace: Trace::new(), began: Instant::now() }
    }

    /// The time on the axis of this run.
    fn now(&self) -> Time {
        Time::ZERO + self.began.elapsed()
    }

    /// Opens a session for a node, and tells its mailbox.
    fn connect(&mut self, id: &str, mailbox: M) -> Session {
        let client = Client { id: id.into(), address: format!("{id}.example:80").into(), metadata: Default::default() };
        let mut out = Vec::new();
        let connect = store::Event::Connect { server: Server(0), client, previous: None, timeout: TIMEOUT };
        self.machine.handle(self.now(), connect, &mut out);
        let opened = out.iter().find_map(|output| {
            if let Output::Connected { session, timeout } = output { Some((*session, *timeout)) } else { None }
        });
        let (session, timeout) = opened.expect("a store of one server takes every client");
        mailbox(Event::SessionUp { session, timeout, entropy: session.0 });
        self.mailboxes.insert(session, mailbox);
        self.tell(out);
        session
    }

    /// Gives an event to the store, and passes its outputs on to the nodes.
    fn give(&mut self, event: store::Event) {
        let mut out = Vec::new();
        self.machine.handle(self.now(), event, &mut out);
        self.tell(out);
    }

    /// Adds a node's event and actions to the trace, and carries out the actions on the store. Returns events for the
    /// node's own loop.
    fn carry_out(&mut self, id: &str, session: Session, event: &Event, actions: Vec<Action>) -> Vec<Event> {
        self.trace.record(self.now(), id, event, &actions);
        let mut events = Vec::new();
        for action in actions {
            match action {
                Action::Store { id, request } => self.give(store::Event::Request { session, id, request }),
                Action::CloseSession => self.give(store::Event::Close { session }),
                // A service that starts and stops in no time. A driver would tell its application here.
                Action::StartService { run, .. } => events.push(Event::ServiceStarted { run }),
                Action::StopService { run, .. } => events.push(Event::ServiceStopped { run }),
                Action::OpenGate { .. }
                | Action::CloseGate
                | Action::Floor(_)
                | Action::Announce(_)
                | Action::RenewSession
                | Action::Exit
                | Action::Refuse(_)
                | Action::StartAfresh(_)
                | Action::Halt(_) => {}
            }
        }
        events
    }

    /// Drops a node that was killed: nothing is sent to it any more, and its session times out.
    fn forget(&mut self, id: &str, session: Session) {
        self.trace.note(self.now(), id, "is killed");
        self.mailboxes.remove(&session);
        self.give(store::Event::Disconnect { session });
    }

    pub(crate) fn text(&self) -> &str {
        self.trace.text()
    }

    fn tell(&self, outputs: Vec<Output>) {
        for output in outputs {
            let (session, event) = match output {
                Output::Answered { session, id, answer } => (session, Event::Answered { id, answer }),
                Output::Noticed { session, id, notice } => (session, Event::Noticed { id, notice }),
                Output::Expired { session } => (session, Event::SessionLost),
                Output::Disconnected { session } => (session, Event::Suspended),
                Output::Connected { .. } | Output::Rejected { .. } | Output::Closed { .. } => continue,
            };
            if let Some(mailbox) = self.mailboxes.get(&session) {
                mailbox(event);
            }
        }
    }
}

/// One node, between two events.
pub(crate) struct Seat {
    id: &'static str,
    node: Node,
    session: Session,
    next_ping: Time,
}

impl Seat {
    pub(crate) fn take<M: Fn(Event)>(id: &'static str, shared: &mut Shared<M>, mailbox: M) -> Self {
        let mut config = Config::new(id);
        config.election = rolecall_core::election::Timing::queue(Duration::from_millis(100));
        let session = shared.connect(id, mailbox);
        Self { id, node: Node::new(config), session, next_ping: Time::ZERO }
    }

    /// Time until there is something to do, unless an event comes.
    pub(crate) fn patience<M: Fn(Event)>(&self, shared: &Shared<M>) -> Duration {
        let wake = self.node.next_deadline().map_or(Time::MAX, |(at, _)| at);
        wake.min(self.next_ping).since(shared.now())
    }

    /// Handles an event, or a wake without one. Returns the role that is served now, or `None` once the node has ended.
    pub(crate) fn step<M: Fn(Event)>(&mut self, shared: &mut Shared<M>, event: Option<Event>) -> Option<Role> {
        if self.next_ping <= shared.now() {
            self.next_ping = shared.now() + TIMEOUT / 3;
            shared.give(store::Event::Ping { session: self.session });
        }
        let mut events = vec![event.unwrap_or(Event::Wake)];
        while let Some(event) = events.pop() {
            let mut actions = Vec::new();
            self.node.handle(shared.now(), event.clone(), &mut actions);
            let ends = actions.contains(&Action::Exit);
            events.extend(shared.carry_out(self.id, self.session, &event, actions));
            if ends {
                return None;
            }
        }
        Some(self.node.role())
    }

    pub(crate) fn die<M: Fn(Event)>(self, shared: &mut Shared<M>) {
        shared.forget(self.id, self.session);
    }
}

/// The story: three nodes start, their leader is killed, another leads, and all end.
#[derive(Default)]
pub(crate) struct Story {
    roles: BTreeMap<&'static str, Role>,
    killed: Option<&'static str>,
}

/// The next thing to do.
pub(crate) enum Next {
    Wait,
    Kill(&'static str),
    End(String),
}

impl Story {
    /// Notes that a node serves a role. Returns the next thing to do.
    pub(crate) fn hear(&mut self, id: &'static str, role: Role) -> Next {
        self.roles.insert(id, role);
        let leader = self.roles.iter().find(|(id, role)| **role == Role::Leader && self.killed != Some(**id));
        let all_serve = self.roles.len() == 3 && self.roles.values().all(|role| *role != Role::None);
        match (leader, self.killed) {
            (Some((id, _)), None) if all_serve => {
                self.killed = Some(id);
                Next::Kill(id)
            }
            (Some((id, _)), Some(killed)) => Next::End(format!("{id} leads since {killed} was killed")),
            (Some(_), None) | (None, _) => Next::Wait,
        }
    }
}
