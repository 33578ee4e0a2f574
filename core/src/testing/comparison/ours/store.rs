//! The store, as one process.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use super::TIMEOUT;
use super::message::{Message, What};
use crate::election::textbook::{Broken, Contender, Envelope, Event, Peer, Timer};
use crate::store::{self, Client, Machine, Output, Server};
use crate::{Session, Time};

/// The store, with the connections of its clients.
#[derive(Clone, Debug)]
pub(super) struct OurStore {
    machine: Machine,
    /// Newest connection of each node, with its session.
    connections: BTreeMap<Peer, (u32, Option<Session>)>,
}

type Out = Vec<Envelope<Message>>;

impl OurStore {
    pub(super) const fn new(machine: Machine) -> Self {
        Self { machine, connections: BTreeMap::new() }
    }

    fn received(&mut self, now: Time, from: Peer, message: Message, out: &mut Out) {
        let Message { connection, what } = message;
        let known = self.connections.get(&from).copied();
        match what {
            What::Connect { client, previous } if known.is_none_or(|(newest, _)| newest < connection) => {
                self.connections.insert(from, (connection, previous));
                let client =
                    Client { address: format!("{client}:80").into(), id: client, metadata: Default::default() };
                let connect = store::Event::Connect { server: Server(0), client, previous, timeout: TIMEOUT };
                self.tell(now, Some(from), connect, out);
            }
            What::Ask { id, request, .. } => {
                if let Some((_, Some(session))) = known.filter(|(newest, _)| *newest == connection) {
                    self.tell(now, None, store::Event::Request { session, id, request }, out);
                }
            }
            What::Ping => {
                if let Some((_, Some(session))) = known.filter(|(newest, _)| *newest == connection) {
                    self.tell(now, None, store::Event::Ping { session }, out);
                    out.push(Envelope { to: from, message: Message { connection, what: What::Pong } });
                }
            }
            What::Connect { .. }
            | What::Connected { .. }
            | What::Expired
            | What::Pong
            | What::Answered { .. }
            | What::Noticed { .. } => {}
        }
    }

    fn tell(&mut self, now: Time, connecting: Option<Peer>, event: store::Event, out: &mut Out) {
        let mut outputs = Vec::new();
        self.machine.handle(now, event, &mut outputs);
        for output in outputs {
            self.pass_on(connecting, output, out);
        }
    }

    fn pass_on(&mut self, connecting: Option<Peer>, output: Output, out: &mut Out) {
        match output {
            Output::Connected { session, timeout } => {
                let Some((peer, known)) = connecting.and_then(|peer| Some((peer, self.connections.get_mut(&peer)?)))
                else {
                    return;
                };
                known.1 = Some(session);
                let message = Message { connection: known.0, what: What::Connected { session, timeout } };
                out.push(Envelope { to: peer, message });
            }
            Output::Expired { session } => {
                self.send(session, What::Expired, out);
                for (_, known) in self.connections.values_mut() {
                    *known = known.filter(|known| *known != session);
                }
            }
            Output::Answered { session, id, answer } => self.send(session, What::Answered { id, answer }, out),
            Output::Noticed { session, id, notice } => self.send(session, What::Noticed { id, notice }, out),
            // There is one server, which breaks no connections, and no client ends its session.
            Output::Rejected { .. } | Output::Disconnected { .. } | Output::Closed { .. } => {}
        }
    }

    fn send(&self, session: Session, what: What, out: &mut Out) {
        let owner = self.connections.iter().find(|(_, (_, known))| *known == Some(session));
        if let Some((peer, (connection, _))) = owner {
            out.push(Envelope { to: *peer, message: Message { connection: *connection, what } });
        }
    }
}

impl Contender for OurStore {
    type Message = Message;

    fn handle(&mut self, now: Time, event: Event<Message>, out: &mut Out) {
        match event {
            Event::Received { from, message } => self.received(now, from, message, out),
            Event::Start => {}
            Event::ClockSet { by, forward } => {
                let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
                let step = store::Fault::Step { millis: if forward { millis } else { -millis } };
                self.tell(now, None, store::Event::Fault(step), out);
            }
            Event::Wake => self.tell(now, None, store::Event::Wake, out),
        }
    }

    fn next_deadline(&self) -> Option<(Time, Timer)> {
        self.machine.next_deadline().map(|at| (at, Timer::Expiry))
    }

    fn check(&self) -> Result<(), Broken> {
        Ok(())
    }

    fn leads_until(&self) -> Option<Time> {
        None
    }

    fn restarted(&self, _seed: u64) -> Box<dyn Contender<Message = Message>> {
        Box::new(self.clone())
    }
}
