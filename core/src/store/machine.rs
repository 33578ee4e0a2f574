//! The store as one state machine.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use super::exchange::Ask;
use super::lease::{Life, Reading};
use super::replica::{Replica, View};
use super::session::{Life as SessionLife, Standing};
use super::tree::Tree;
use super::{Answer, Broken, Event, Output, Server, Sink, Timing};
use crate::{Family, Session, Time};

/// The coordination store of one cluster. [The module's documentation](super) describes the model.
///
/// ```
/// use core::time::Duration;
/// use rolecall_core::Time;
/// use rolecall_core::store::{Client, Event, Machine, Output, Server, Timing};
///
/// let mut store = Machine::new(Timing::bounded(Duration::from_secs(2)), 1);
/// let mut out = Vec::new();
/// let client = Client { id: "a".into(), address: "10.0.0.1:80".into(), metadata: Default::default() };
/// let connect = Event::Connect { server: Server(0), client, previous: None, timeout: Duration::from_secs(1) };
/// store.handle(Time::ZERO, connect, &mut out);
/// assert!(matches!(out[0], Output::Connected { timeout, .. } if timeout == Duration::from_secs(4)));
/// assert_eq!(store.next_deadline(), Some(Time::from_millis(6_000)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Machine {
    pub(super) timing: Timing,
    pub(super) tree: Arc<Tree>,
    pub(super) servers: Vec<Replica>,
    pub(super) sessions: BTreeMap<Session, SessionLife>,
    /// Number of the newest session. It is never used again, even if the data is lost. 0 stands for none.
    pub(super) newest: u64,
    /// The server's process and clock, which matter to a lease.
    pub(super) host: Host,
    /// The data that a replica has, since it lost touch with its server: only where the store keeps a lease.
    pub(super) replica: Option<Arc<Tree>>,
}

/// The process of a server, and its wall clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Host {
    pub(super) life: Life,
    /// Sum of all steps of the wall clock, in nanoseconds.
    pub(super) stepped: i64,
}

impl Host {
    /// The wall clock at a true time. It begins long before, so that it can step back as far as it likes.
    pub(super) fn wall(&self, now: Time) -> Time {
        const BEGINNING: u64 = 1 << 62;
        Time::from_nanos(now.as_nanos().saturating_add(BEGINNING).saturating_add_signed(self.stepped))
    }

    /// The server at a true time, as a script reads it.
    pub(super) fn reading(&self, now: Time) -> Reading {
        Reading { wall: self.wall(now), life: self.life }
    }
}

impl Machine {
    /// An empty store with this many servers, at least one, which keeps a queue.
    #[must_use]
    pub fn new(timing: Timing, servers: u8) -> Self {
        Self::of(Family::Queue, timing, servers)
    }

    /// An empty store of one server, which keeps a lease.
    #[must_use]
    pub fn with_lease(timing: Timing) -> Self {
        Self::of(Family::Lease, timing, 1)
    }

    fn of(family: Family, timing: Timing, servers: u8) -> Self {
        Self {
            timing,
            tree: Arc::new(Tree::founded(family)),
            servers: vec![Replica::default(); usize::from(servers.max(1))],
            sessions: BTreeMap::new(),
            newest: 0,
            host: Host { life: Life::FIRST, stepped: 0 },
            replica: None,
        }
    }

    /// Handles one event. Sessions that are due by `now` end before it.
    pub fn handle(&mut self, now: Time, event: Event, out: &mut impl Sink) {
        self.expire_due(now, out);
        self.tick(now, &event);
        match event {
            Event::Connect { server, client, previous, timeout } => {
                self.connect(now, server, client, previous, timeout, out);
            }
            Event::Disconnect { session } => self.drop_link(session, out),
            Event::Request { session, id, request } => self.ask(now, session, Ask::Request(id, request), out),
            Event::Ping { session } => self.ping(now, session),
            Event::Close { session } => self.ask(now, session, Ask::Close, out),
            Event::Wake => {}
            Event::Operator(act) => self.operate(act, out),
            Event::Fault(fault) => self.suffer(now, fault, out),
        }
    }

    /// Lets the clock of a lease go on with each call of a client that reaches the server.
    fn tick(&mut self, now: Time, event: &Event) {
        let timeout = match event {
            Event::Connect { timeout, .. } => *timeout,
            Event::Ping { session } | Event::Request { session, .. } => match self.sessions.get(session) {
                Some(life) if life.standing == Standing::Connected => life.timeout,
                Some(_) | None => return,
            },
            Event::Disconnect { .. } | Event::Close { .. } | Event::Wake | Event::Operator(_) | Event::Fault(_) => {
                return;
            }
        };
        let reading = self.host.reading(now);
        if self.tree.lease.is_some() {
            let lease = &mut Arc::make_mut(&mut self.tree).lease;
            lease.iter_mut().for_each(|lease| lease.tick(reading, timeout));
        }
    }

    /// Time after which the driver of a connected client sends the next [`Event::Ping`].
    #[must_use]
    pub fn ping_interval(&self, timeout: Duration) -> Duration {
        self.family().ping_interval(timeout)
    }

    /// Family of the election that it keeps.
    #[must_use]
    pub fn family(&self) -> Family {
        self.tree.family()
    }

    /// Time at which the next session ends unless its client is heard before; time for the next [`Event::Wake`].
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        self.living().map(|(_, life)| self.expiry(life)).min()
    }

    /// Checks every invariant.
    ///
    /// # Errors
    /// The first invariant that is broken.
    pub fn check(&self) -> Result<(), Broken> {
        super::check::check(self)
    }

    /// Ends a session. If its client's server is up to date, it is told at once; otherwise both learn of it once the
    /// server catches up.
    pub(super) fn expire(&mut self, session: Session, out: &mut impl Sink) {
        let Some(life) = self.sessions.get_mut(&session) else { return };
        let informed = matches!(self.servers[usize::from(life.server.0)].view, View::Current);
        match (life.standing, informed) {
            (Standing::Ghost, _) => {}
            (Standing::Connected, false) => {
                life.standing = Standing::Ghost;
                self.release(session, out);
            }
            (Standing::Connected, true) => {
                self.remove(session);
                self.release(session, out);
                out.push(Output::Expired { session });
            }
            (Standing::Adrift, _) => {
                self.remove(session);
                self.release(session, out);
            }
        }
    }

    /// Forgets a session, and the requests that servers hold for it.
    pub(super) fn remove(&mut self, session: Session) {
        self.sessions.remove(&session);
        self.drop_held(session);
    }

    pub(super) fn drop_held(&mut self, session: Session) {
        for replica in &mut self.servers {
            replica.held.retain(|held| held.session != session);
        }
    }

    /// Deletes everything that a session owned.
    pub(super) fn release(&mut self, session: Session, out: &mut impl Sink) {
        self.commit(out, |tree| tree.release(session));
    }

    /// Changes the tree, and fires the watches of clients that see the change at once.
    pub(super) fn commit<T>(&mut self, out: &mut impl Sink, change: impl FnOnce(&mut Tree) -> T) -> T {
        let before = self.tree.revision;
        let result = change(Arc::make_mut(&mut self.tree));
        if self.tree.revision != before {
            for (session, life) in &mut self.sessions {
                let current = matches!(self.servers[usize::from(life.server.0)].view, View::Current);
                if current && life.standing == Standing::Connected {
                    life.notify(*session, before, &self.tree, out);
                }
            }
        }
        result
    }

    /// Ends the lag or the isolation of a server: its clients learn what they missed.
    pub(super) fn catch_up(&mut self, server: Server, out: &mut impl Sink) {
        let (View::Lagging(old) | View::Cut(old)) = core::mem::take(&mut self.replica_mut(server).view) else { return };
        let mut over = Vec::new();
        for (session, life) in self.sessions.iter_mut().filter(|(_, life)| life.server == server) {
            match life.standing {
                Standing::Connected => life.notify(*session, old.revision, &self.tree, out),
                Standing::Adrift => {}
                Standing::Ghost => over.push(*session),
            }
        }
        for session in over {
            self.abandon_held(session, out);
            self.remove(session);
            out.push(Output::Expired { session });
        }
    }

    /// Answers the requests that a server holds for a session, with an unknown outcome.
    pub(super) fn abandon_held(&mut self, session: Session, out: &mut impl Sink) {
        for held in self.servers.iter_mut().flat_map(|replica| &mut replica.held) {
            if held.session == session && held.awaited {
                held.awaited = false;
                if let Ask::Request(id, _) = held.what {
                    out.push(Output::Answered { session, id, answer: Answer::Unknown });
                }
            }
        }
    }

    pub(super) fn replica(&self, server: Server) -> &Replica {
        &self.servers[usize::from(server.0)]
    }

    pub(super) fn replica_mut(&mut self, server: Server) -> &mut Replica {
        &mut self.servers[usize::from(server.0)]
    }

    pub(super) fn has(&self, server: Server) -> bool {
        usize::from(server.0) < self.servers.len()
    }

    fn expire_due(&mut self, now: Time, out: &mut impl Sink) {
        loop {
            let due = self.living().map(|(session, life)| (self.expiry(life), session)).min();
            match due {
                Some((expiry, session)) if expiry <= now => self.expire(session, out),
                Some(_) | None => return,
            }
        }
    }

    pub(super) fn living(&self) -> impl Iterator<Item = (Session, &SessionLife)> {
        self.sessions
            .iter()
            .filter(|(_, life)| life.standing != Standing::Ghost)
            .map(|(session, life)| (*session, life))
    }

    fn expiry(&self, life: &SessionLife) -> Time {
        self.timing.expiry(life.heard, life.timeout)
    }
}
