//! The store's machine together with its connections: delivers outputs, and tracks what is due for each connection.

use core::task::Waker;
use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use rolecall_core::store::{Answer, Client, Event, Machine, Output, Refusal, Request};
use rolecall_core::{Family, OpId, Session, Time};

use super::{SERVER, StoreEvent};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ConnectionId(u64);

/// The machine with all connections to it.
#[derive(Debug)]
pub(super) struct Connections {
    machine: Machine,
    connections: BTreeMap<ConnectionId, Connection>,
    newest: u64,
}

/// Connection of one node.
#[derive(Debug)]
struct Connection {
    client: Client,
    timeout: Duration,
    link: Link,
    events: VecDeque<StoreEvent>,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, Debug)]
enum Link {
    /// Connects on the next poll, and tries to continue this session.
    Seeking(Option<Session>),
    Up {
        session: Session,
        ping_every: Duration,
        ping_at: Time,
    },
    /// Must not connect until it is resumed. It then tries to continue this session.
    HeldBack(Option<Session>),
    Closed,
}

impl Link {
    const fn session(self) -> Option<Session> {
        match self {
            Self::Seeking(session) | Self::HeldBack(session) => session,
            Self::Up { session, .. } => Some(session),
            Self::Closed => None,
        }
    }
}

impl Connection {
    fn push(&mut self, event: StoreEvent) {
        self.events.push_back(event);
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Connections {
    pub(super) const fn new(machine: Machine) -> Self {
        Self { machine, connections: BTreeMap::new(), newest: 0 }
    }

    pub(super) fn family(&self) -> Family {
        self.machine.family()
    }

    pub(super) fn add(&mut self, client: Client, timeout: Duration) -> ConnectionId {
        self.newest += 1;
        let id = ConnectionId(self.newest);
        let link = Link::Seeking(None);
        self.connections.insert(id, Connection { client, timeout, link, events: VecDeque::new(), waker: None });
        id
    }

    pub(super) fn remove(&mut self, now: Time, id: ConnectionId) {
        if let Some(session) = self.connections.remove(&id).and_then(|connection| connection.link.session()) {
            self.handle(now, Event::Disconnect { session });
        }
        // Another connection must now wake up in time to end the session.
        self.wake_all();
    }

    /// Passes an event to the machine and delivers the outputs.
    pub(super) fn handle(&mut self, now: Time, event: Event) {
        for output in self.run(now, event) {
            self.deliver(output);
        }
    }

    fn run(&mut self, now: Time, event: Event) -> Vec<Output> {
        let before = self.machine.next_deadline();
        let mut outputs = Vec::new();
        self.machine.handle(now, event, &mut outputs);
        // All alarms were set for the previous deadline, which is later.
        if self.machine.next_deadline().is_some_and(|deadline| before.is_none_or(|before| deadline < before)) {
            self.wake_all();
        }
        outputs
    }

    pub(super) fn send(&mut self, now: Time, id: ConnectionId, op: OpId, request: Request) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        match connection.link {
            Link::Up { session, .. } => self.handle(now, Event::Request { session, id: op, request }),
            Link::Seeking(_) | Link::HeldBack(_) => {
                connection.push(StoreEvent::Answered { id: op, answer: Answer::Refused(Refusal::Disconnected) });
            }
            Link::Closed => {}
        }
    }

    pub(super) fn renew(&mut self, now: Time, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let Some(session) = connection.link.session() else { return };
        connection.link = match connection.link {
            Link::HeldBack(_) => Link::HeldBack(None),
            Link::Seeking(_) | Link::Up { .. } | Link::Closed => Link::Seeking(None),
        };
        connection.push(StoreEvent::Lost);
        self.handle(now, Event::Disconnect { session });
    }

    pub(super) fn close(&mut self, now: Time, id: ConnectionId) {
        if let Some(Link::Up { session, .. }) = self.connections.get(&id).map(|connection| connection.link) {
            self.handle(now, Event::Close { session });
        }
        let Some(connection) = self.connections.get_mut(&id) else { return };
        match connection.link {
            Link::Closed => {}
            // The session is already over, or cannot be reached.
            Link::Seeking(_) | Link::HeldBack(_) | Link::Up { .. } => {
                connection.link = Link::Closed;
                connection.push(StoreEvent::Closed);
            }
        }
    }

    pub(super) fn suspend(&mut self, now: Time, client: &str) {
        let mut cut = Vec::new();
        for connection in self.connections.values_mut().filter(|connection| &*connection.client.id == client) {
            match connection.link {
                Link::Seeking(session) => connection.link = Link::HeldBack(session),
                Link::Up { session, .. } => {
                    connection.link = Link::HeldBack(Some(session));
                    connection.push(StoreEvent::Suspended);
                    cut.push(session);
                }
                Link::HeldBack(_) | Link::Closed => {}
            }
        }
        for session in cut {
            self.handle(now, Event::Disconnect { session });
        }
    }

    pub(super) fn resume(&mut self, client: &str) {
        for connection in self.connections.values_mut().filter(|connection| &*connection.client.id == client) {
            if let Link::HeldBack(session) = connection.link {
                connection.link = Link::Seeking(session);
                connection.wake();
            }
        }
    }

    pub(super) fn sessions_of(&self, client: &str) -> Vec<Session> {
        self.machine.sessions().filter(|(_, owner)| &*owner.id == client).map(|(session, _)| session).collect()
    }

    /// Does what is due: ends sessions, and connects or pings for the connection that is polled.
    pub(super) fn attend(&mut self, now: Time, id: ConnectionId) {
        if self.machine.next_deadline().is_some_and(|deadline| deadline <= now) {
            self.handle(now, Event::Wake);
        }
        self.ping(now, id);
        // The second pass opens a new session if the first finds that the old one is over.
        for _ in 0..2 {
            let Some(connection) = self.connections.get(&id) else { return };
            if let Link::Seeking(previous) = connection.link {
                self.seek(now, id, previous);
            }
        }
    }

    /// Next event of a connection. If there is none, `waker` is called when there may be one.
    pub(super) fn next_event(&mut self, id: ConnectionId, waker: &Waker) -> Option<StoreEvent> {
        let connection = self.connections.get_mut(&id)?;
        let event = connection.events.pop_front();
        if event.is_none() {
            connection.waker = Some(waker.clone());
        }
        event
    }

    /// Time at which the connection must be attended to, even if nothing happens before.
    pub(super) fn wake_at(&self, id: ConnectionId) -> Option<Time> {
        let ping_at = match self.connections.get(&id)?.link {
            Link::Closed => return None,
            Link::Up { ping_at, .. } => Some(ping_at),
            Link::Seeking(_) | Link::HeldBack(_) => None,
        };
        ping_at.into_iter().chain(self.machine.next_deadline()).min()
    }

    fn ping(&mut self, now: Time, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if let Link::Up { session, ping_every, ping_at } = &mut connection.link
            && *ping_at <= now
        {
            *ping_at = now + *ping_every;
            let session = *session;
            self.handle(now, Event::Ping { session });
        }
    }

    fn seek(&mut self, now: Time, id: ConnectionId, previous: Option<Session>) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let (client, timeout) = (connection.client.clone(), connection.timeout);
        for output in self.run(now, Event::Connect { server: SERVER, client, previous, timeout }) {
            if let Output::Connected { session, timeout } = output {
                let Some(connection) = self.connections.get_mut(&id) else { return };
                let ping_every = self.machine.ping_interval(timeout).max(Duration::from_millis(1));
                connection.link = Link::Up { session, ping_every, ping_at: now + ping_every };
                connection.push(StoreEvent::Up { session, timeout });
            } else {
                self.deliver(output);
            }
        }
    }

    fn deliver(&mut self, output: Output) {
        let (session, event) = match output {
            Output::Expired { session } => (session, StoreEvent::Lost),
            Output::Disconnected { session } => (session, StoreEvent::Suspended),
            Output::Answered { session, id, answer } => (session, StoreEvent::Answered { id, answer }),
            Output::Noticed { session, id, notice } => (session, StoreEvent::Noticed { id, notice }),
            Output::Closed { session } => (session, StoreEvent::Closed),
            // `seek` handles `Connected`. A single server that is neither cut off nor lagging rejects nobody.
            Output::Connected { .. } | Output::Rejected { .. } => return,
        };
        let Some(connection) =
            self.connections.values_mut().find(|connection| connection.link.session() == Some(session))
        else {
            return;
        };
        let held_back = matches!(connection.link, Link::HeldBack(_));
        let link = |session| if held_back { Link::HeldBack(session) } else { Link::Seeking(session) };
        match event {
            StoreEvent::Lost => connection.link = link(None),
            StoreEvent::Suspended => connection.link = link(Some(session)),
            StoreEvent::Closed => connection.link = Link::Closed,
            StoreEvent::Up { .. }
            | StoreEvent::Answered { .. }
            | StoreEvent::Noticed { .. }
            | StoreEvent::Denied(_) => {}
        }
        connection.push(event);
    }

    fn wake_all(&mut self) {
        self.connections.values_mut().for_each(Connection::wake);
    }
}
