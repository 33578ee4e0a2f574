//! Tests of the store. Each step checks every invariant.

mod arbitrary;
mod canonical;
mod faults;
mod properties;
mod queue;
mod sessions;
mod watches;

use alloc::vec::Vec;
use core::time::Duration;

use super::{
    Act, Answer, Client, Event, Fault, Machine, Notice, Output, QueueReply, QueueRequest, Reply, Request, Server,
    Timing,
};
use crate::{Candidate, Guid, Link, OpId, Session, Slot, Time};

const TICK: Duration = Duration::from_secs(2);
const TIMEOUT: Duration = Duration::from_secs(10);
const A: Server = Server(0);
const B: Server = Server(1);

/// A store, a clock, and the number of requests.
#[derive(Debug)]
struct World {
    store: Machine,
    now: Time,
    asked: u32,
}

impl World {
    fn new(servers: u8) -> Self {
        Self { store: Machine::new(Timing::bounded(TICK), servers), now: Time::ZERO, asked: 0 }
    }

    fn event(&mut self, event: Event) -> Vec<Output> {
        let mut out = Vec::new();
        self.store.handle(self.now, event, &mut out);
        self.store.check().expect("every invariant of the store");
        out
    }

    fn fault(&mut self, fault: Fault) -> Vec<Output> {
        self.event(Event::Fault(fault))
    }

    fn operate(&mut self, act: Act) -> Vec<Output> {
        self.event(Event::Operator(act))
    }

    fn pass(&mut self, time: Duration) -> Vec<Output> {
        self.now = self.now + time;
        self.event(Event::Wake)
    }

    fn connect(&mut self, id: &str, server: Server, previous: Option<Session>) -> Vec<Output> {
        self.event(Event::Connect { server, client: client(id), previous, timeout: TIMEOUT })
    }

    /// Opens a new session of the node `id` at `server`.
    fn open(&mut self, id: &str, server: Server) -> Session {
        let out = self.connect(id, server, None);
        match out.last() {
            Some(Output::Connected { session, timeout: TIMEOUT }) => *session,
            other => panic!("no session: {other:?}"),
        }
    }

    /// The event; a request gets an id of its own.
    fn named(&mut self, event: Event) -> Event {
        match event {
            Event::Request { session, id, request } => {
                self.asked += 1;
                Event::Request { session, id: OpId { sequence: self.asked, ..id }, request }
            }
            other @ (Event::Connect { .. }
            | Event::Disconnect { .. }
            | Event::Ping { .. }
            | Event::Close { .. }
            | Event::Wake
            | Event::Operator(_)
            | Event::Fault(_)) => other,
        }
    }

    /// Sends a request. Returns its id and all outputs.
    fn send(&mut self, session: Session, slot: Slot, request: Request) -> (OpId, Vec<Output>) {
        self.asked += 1;
        let id = OpId { link: Link(0), slot, sequence: self.asked };
        (id, self.event(Event::Request { session, id, request }))
    }

    /// Sends a request that has no other output than its answer.
    fn ask(&mut self, session: Session, request: Request) -> Answer {
        let (id, mut out) = self.send(session, Slot::Election, request);
        match (out.pop(), out.len()) {
            (Some(Output::Answered { session: to, id: of, answer }), 0) if to == session && of == id => answer,
            other => panic!("not one answer: {other:?} after {out:?}"),
        }
    }

    fn enter(&mut self, session: Session, guid: u128) -> Candidate {
        let answer = self.ask(session, Request::Queue(QueueRequest::Enter { guid: Guid::ours(guid) }));
        let Answer::Done(Reply::Queue(QueueReply::Entered(candidate))) = answer else {
            panic!("not entered: {answer:?}")
        };
        candidate
    }

    fn queue(&mut self, session: Session) -> Vec<Candidate> {
        let answer = self.ask(session, Request::Queue(QueueRequest::List));
        let Answer::Done(Reply::Queue(QueueReply::Candidates { candidates, .. })) = answer else {
            panic!("no list: {answer:?}")
        };
        candidates
    }

    /// Sets a watch on a candidate. Returns the id of the request.
    fn watch(&mut self, session: Session, candidate: Candidate) -> OpId {
        let (id, out) =
            self.send(session, Slot::Election, Request::Queue(QueueRequest::Inspect { candidate, watch: true }));
        assert!(matches!(out[..], [Output::Answered { answer: Answer::Done(_), .. }]), "not watched: {out:?}");
        id
    }
}

fn client(id: &str) -> Client {
    Client { id: id.into(), address: alloc::format!("{id}:80").into(), metadata: Default::default() }
}

fn noticed(session: Session, id: OpId, notice: Notice) -> Output {
    Output::Noticed { session, id, notice }
}

fn answered(session: Session, id: OpId, answer: Answer) -> Output {
    Output::Answered { session, id, answer }
}
