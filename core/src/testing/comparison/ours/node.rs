//! A node with its driver and its client, as one process.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::TIMEOUT;
use super::message::{Message, What};
use crate::election::textbook::{Broken, Contender, Envelope, Event, Peer, Timer};
use crate::store::{Answer, Refusal};
use crate::{Action, Config, Node, Session, Time, Violation};

/// A node, and everything of its process that stands between it and the store.
#[derive(Debug)]
pub(super) struct OurNode {
    node: Node,
    config: Config,
    /// Interval at which the client pings the store.
    ping: Duration,
    link: Link,
    /// Number of the connection, which no other connection of this node has had.
    connection: u32,
    session: Option<Session>,
    /// End of the permission to act as leader.
    gate: Option<Time>,
    broken: Option<Violation>,
    /// True from a wake for the regular reading until anything else happens.
    is_routine: bool,
    entropy: u64,
}

/// State of the connection.
#[derive(Clone, Copy, Debug)]
enum Link {
    /// The process has not started.
    Off,
    /// Another attempt begins at this time unless the store answers.
    Connecting { again_at: Time },
    /// The store was last heard and is next pinged at these times.
    Up { heard: Time, ping_at: Time },
}

type Out = Vec<Envelope<Message>>;

impl OurNode {
    pub(super) fn new(config: Config, ping: Duration) -> Self {
        Self {
            node: Node::new(config.clone()),
            config,
            ping,
            link: Link::Off,
            connection: 0,
            session: None,
            gate: None,
            broken: None,
            is_routine: false,
            entropy: 0,
        }
    }

    fn send(&self, what: What, out: &mut Out) {
        out.push(Envelope { to: Peer::STORE, message: Message { connection: self.connection, what } });
    }

    fn connect(&mut self, now: Time, out: &mut Out) {
        self.connection = self.connection.wrapping_add(1);
        self.link = Link::Connecting { again_at: now + TIMEOUT / 3 };
        let client = Arc::clone(&self.config.id);
        self.send(What::Connect { client, previous: self.session }, out);
    }

    /// Takes a message that belongs to the present connection.
    fn received(&mut self, now: Time, what: What, out: &mut Out) {
        if let Link::Up { heard, .. } = &mut self.link {
            *heard = now;
        }
        match what {
            What::Connected { session, timeout } => {
                (self.session, self.link) = (Some(session), Link::Up { heard: now, ping_at: now + self.ping });
                self.entropy = self.entropy.wrapping_add(0x9e37_79b9_7f4a_7c15);
                self.tell(now, crate::Event::SessionUp { session, timeout, entropy: self.entropy }, out);
            }
            What::Expired => {
                self.session = None;
                self.tell(now, crate::Event::SessionLost, out);
                self.connect(now, out);
            }
            What::Answered { id, answer } => self.tell(now, crate::Event::Answered { id, answer }, out),
            What::Noticed { id, notice } => self.tell(now, crate::Event::Noticed { id, notice }, out),
            What::Pong | What::Connect { .. } | What::Ping | What::Ask { .. } => {}
        }
    }

    /// Lets the node handle an event, and everything that follows from it at once.
    fn tell(&mut self, now: Time, event: crate::Event, out: &mut Out) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let mut actions = Vec::new();
            self.is_routine = match &event {
                crate::Event::Wake => self.node.next_deadline().is_some_and(|(_, why)| why == crate::Timer::Relist),
                crate::Event::Answered { .. } => self.is_routine,
                crate::Event::SessionUp { .. }
                | crate::Event::Suspended
                | crate::Event::SessionLost
                | crate::Event::Noticed { .. }
                | crate::Event::ServiceStarted { .. }
                | crate::Event::ServiceFailed { .. }
                | crate::Event::ServiceStopped { .. }
                | crate::Event::FenceSeen { .. }
                | crate::Event::Resign
                | crate::Event::Stand { .. }
                | crate::Event::Shutdown => false,
            };
            self.node.handle(now, event, &mut actions);
            for action in actions {
                events.extend(self.act(now, action, out));
            }
        }
    }

    /// Carries out an action. Returns the event that follows from it at once.
    fn act(&mut self, now: Time, action: Action, out: &mut Out) -> Option<crate::Event> {
        match action {
            Action::Store { id, request } => {
                if !matches!(self.link, Link::Up { .. }) {
                    return Some(crate::Event::Answered { id, answer: Answer::Refused(Refusal::Disconnected) });
                }
                self.send(What::Ask { id, request, is_routine: self.is_routine }, out);
            }
            Action::OpenGate { until, .. } => self.gate = Some(until),
            Action::CloseGate => self.gate = None,
            // The service is empty: it starts and stops in no time.
            Action::StartService { run, .. } => return Some(crate::Event::ServiceStarted { run }),
            Action::StopService { run, .. } => return Some(crate::Event::ServiceStopped { run }),
            Action::RenewSession | Action::StartAfresh(_) => {
                self.session = None;
                self.connect(now, out);
            }
            Action::Halt(violation) => (self.gate, self.broken) = (None, Some(violation)),
            Action::Floor(_) | Action::Announce(_) => {}
            // Nobody asks for it here, and a node that registers nothing refuses nothing.
            Action::CloseSession | Action::Exit | Action::Refuse(_) => {}
        }
        None
    }

    fn wake(&mut self, now: Time, out: &mut Out) {
        match self.link {
            Link::Connecting { again_at } if again_at <= now => self.connect(now, out),
            // ZooKeeper's clients give a connection up after two thirds of the session timeout without a word.
            Link::Up { heard, .. } if heard + TIMEOUT / 3 * 2 <= now => {
                self.tell(now, crate::Event::Suspended, out);
                self.connect(now, out);
            }
            Link::Up { heard, ping_at } if ping_at <= now => {
                self.link = Link::Up { heard, ping_at: now + self.ping };
                self.send(What::Ping, out);
            }
            Link::Off | Link::Connecting { .. } | Link::Up { .. } => {}
        }
        if self.node.next_deadline().is_some_and(|(at, _)| at <= now) {
            self.tell(now, crate::Event::Wake, out);
        }
    }
}

impl Contender for OurNode {
    type Message = Message;

    fn handle(&mut self, now: Time, event: Event<Message>, out: &mut Out) {
        match event {
            Event::Start => self.connect(now, out),
            Event::Received { message, .. } if message.connection == self.connection => {
                self.received(now, message.what, out);
            }
            // It was sent on an earlier connection, which is closed.
            Event::Received { .. } | Event::ClockSet { .. } => {}
            Event::Wake => self.wake(now, out),
        }
    }

    fn next_deadline(&self) -> Option<(Time, Timer)> {
        let link = match self.link {
            Link::Off => None,
            Link::Connecting { again_at } => Some(again_at),
            Link::Up { heard, ping_at } => Some(ping_at.min(heard + TIMEOUT / 3 * 2)),
        };
        let inner = self.node.next_deadline().map(|(at, _)| (at, Timer::Inner));
        link.map(|at| (at, Timer::Link)).into_iter().chain(inner).min()
    }

    fn check(&self) -> Result<(), Broken> {
        match self.broken {
            Some(violation) => Err(Broken::Inner(violation)),
            None => self.node.check().map_err(Broken::Inner),
        }
    }

    fn leads_until(&self) -> Option<Time> {
        self.gate
    }

    fn restarted(&self, seed: u64) -> Box<dyn Contender<Message = Message>> {
        Box::new(Self { connection: self.connection, entropy: seed, ..Self::new(self.config.clone(), self.ping) })
    }
}
