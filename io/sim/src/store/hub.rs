//! The store: the pure state machine, and the connections of its servers, each of which is a host.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall_core::store::{Act, Contender, Event, Fault, Machine, Output, Server};
use rolecall_core::{Directory, Member, Session, Time};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::super::clock::TrueTime;
use super::super::net::SimNet;
use super::PORT;
use super::wire::{Call, Heard, Line, Word};
use rolecall::{Net, Stream};

/// The machine with its connections. Clones share it: each server's host has one, and so does the injection of faults.
#[derive(Clone, Debug)]
pub(crate) struct Hub(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    truth: TrueTime,
    state: Mutex<State>,
    /// Notifies of a deadline that may have come closer.
    changed: Notify,
}

#[derive(Debug)]
struct State {
    machine: Machine,
    lines: BTreeMap<LineId, UnboundedSender<Word>>,
    owners: BTreeMap<Session, LineId>,
    newest: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LineId(u64);

impl Hub {
    pub(crate) fn new(truth: TrueTime, machine: Machine) -> Self {
        let state = State { machine, lines: BTreeMap::new(), owners: BTreeMap::new(), newest: 0 };
        Self(Arc::new(Shared { truth, state: Mutex::new(state), changed: Notify::new() }))
    }

    /// Runs one server, on its host.
    pub(crate) async fn serve(self, server: Server, net: SimNet) -> std::io::Result<()> {
        let mut listener = net.bind(&format!("0.0.0.0:{PORT}")).await?;
        if server == Server(0) {
            tokio::spawn(self.clone().keep_time());
        }
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(self.clone().converse(server, stream));
        }
    }

    /// Wakes the machine, which all servers share.
    async fn keep_time(self) {
        loop {
            let changed = self.0.changed.notified();
            let deadline = self.lock().machine.next_deadline();
            match deadline {
                None => changed.await,
                Some(at) => tokio::select! {
                    biased;
                    () = changed => {}
                    () = tokio::time::sleep(at.since(self.0.truth.now())) => self.handle(Event::Wake),
                },
            }
        }
    }

    /// Serves one connection to one server.
    async fn converse(self, server: Server, stream: Box<dyn Stream>) {
        let (id, mut words) = self.lock().open();
        let mut line = Line::new(stream);
        loop {
            tokio::select! {
                biased;
                word = words.recv() => match word {
                    Some(word) => line.say(&word),
                    None => break,
                },
                heard = line.next() => match heard {
                    Heard::Word(call) => self.take(server, id, call),
                    Heard::Sent => {}
                    Heard::End => break,
                },
            }
        }
        let lost = self.lock().hang_up(id);
        if let Some(session) = lost {
            self.handle(Event::Disconnect { session });
        }
    }

    fn take(&self, server: Server, id: LineId, call: Call) {
        let session = self.lock().session_of(id);
        match (call, session) {
            (Call::Connect { client, previous, timeout }, _) => {
                let connect = Event::Connect { server, client, previous, timeout };
                let now = self.0.truth.now();
                self.lock().run(now, connect, Some((id, previous)));
                self.0.changed.notify_one();
            }
            (Call::Request { id, request }, Some(session)) => self.handle(Event::Request { session, id, request }),
            (Call::Ping, Some(session)) => {
                self.handle(Event::Ping { session });
                self.lock().say(id, Word::Pong);
            }
            (Call::Close, Some(session)) => self.handle(Event::Close { session }),
            // Another line took over the session, and this one is about to end.
            (Call::Request { .. } | Call::Ping | Call::Close, None) => {}
        }
    }

    fn handle(&self, event: Event) {
        let now = self.0.truth.now();
        self.lock().run(now, event, None);
        self.0.changed.notify_one();
    }

    /// Begins or ends a fault of the store.
    pub(crate) fn inject(&self, fault: Fault) {
        self.handle(Event::Fault(fault));
    }

    /// Carries out an operator's act.
    pub(crate) fn operate(&self, act: Act) {
        self.handle(Event::Operator(act));
    }

    /// The sessions of the node `id`, as far as the majority of servers knows.
    pub(crate) fn sessions_of(&self, id: &str) -> Vec<Session> {
        let state = self.lock();
        state.machine.sessions().filter(|(_, client)| &*client.id == id).map(|(session, _)| session).collect()
    }

    /// The queue in order.
    pub(crate) fn contenders(&self) -> Vec<Contender> {
        self.lock().machine.contenders().to_vec()
    }

    /// The node that holds the lease, where the store keeps one.
    pub(crate) fn lease_holder(&self) -> Option<Arc<str>> {
        self.lock().machine.lease().map(|holding| holding.id)
    }

    /// The members of a directory.
    pub(crate) fn members(&self, directory: Directory) -> Vec<Member> {
        self.lock().machine.members(directory).cloned().collect()
    }

    /// Checks the machine's invariants.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.lock().machine.check().map_err(|broken| format!("the store: {broken:?}"))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn open(&mut self) -> (LineId, UnboundedReceiver<Word>) {
        self.newest += 1;
        let (sender, words) = unbounded_channel();
        self.lines.insert(LineId(self.newest), sender);
        (LineId(self.newest), words)
    }

    /// Forgets a line, and returns its session.
    fn hang_up(&mut self, id: LineId) -> Option<Session> {
        self.lines.remove(&id);
        let session = self.session_of(id)?;
        self.owners.remove(&session);
        Some(session)
    }

    fn session_of(&self, id: LineId) -> Option<Session> {
        self.owners.iter().find(|(_, line)| **line == id).map(|(session, _)| *session)
    }

    fn say(&self, id: LineId, word: Word) {
        if let Some(line) = self.lines.get(&id) {
            // A line that has ended tells its client by itself.
            drop(line.send(word));
        }
    }

    fn run(&mut self, now: Time, event: Event, connecting: Option<(LineId, Option<Session>)>) {
        let mut outputs = Vec::new();
        self.machine.handle(now, event, &mut outputs);
        for output in outputs {
            self.deliver(output, connecting);
        }
    }

    fn deliver(&mut self, output: Output, connecting: Option<(LineId, Option<Session>)>) {
        let owner = |state: &Self, session| state.owners.get(session).copied();
        let line = match &output {
            Output::Connected { session, .. } => {
                if let Some((line, _)) = connecting
                    && let Some(before) = self.owners.insert(*session, line)
                {
                    // The session came back on another line, so its former line ends.
                    self.lines.remove(&before);
                }
                connecting.map(|(line, _)| line)
            }
            Output::Rejected { .. } => connecting.map(|(line, _)| line),
            Output::Expired { session } => {
                let comes_with_it = connecting.filter(|(_, previous)| *previous == Some(*session));
                self.owners.remove(session).or(comes_with_it.map(|(line, _)| line))
            }
            Output::Closed { session } => self.owners.remove(session),
            Output::Disconnected { session } => {
                let line = self.owners.remove(session);
                if let Some(line) = line {
                    self.lines.remove(&line);
                }
                None
            }
            Output::Answered { session, .. } | Output::Noticed { session, .. } => owner(self, session),
        };
        if let Some(line) = line {
            self.say(line, Word::Says(output));
        }
    }
}
