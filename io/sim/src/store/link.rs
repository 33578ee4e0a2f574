//! The adapter: one node's session with the simulated store.
//!
//! It behaves as the clients of real stores do. It pings several times in its timeout, drops a connection that is silent
//! for two thirds, tries the servers in turn, answers `Unknown` for requests under way on a connection that broke, and
//! drops its session by itself at 7/5 of the timeout.

use core::task::{Context, Poll};
use core::time::Duration;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall_core::store::{Answer, Client, Effect, Output, Refusal, Request, Server};
use rolecall_core::{Family, OpId, Session, Time};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use super::wire::{Call, Heard, Line, Word};
use super::{PORT, host};
use rolecall::store::{Participant, Store, StoreEvent};
use rolecall::{BoxFuture, Clock, Entropy, Net, Stream};

/// Faults of one node's link to the store. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkFaults(Arc<Mutex<Orders>>);

/// Answers that a node never hears.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lost {
    #[default]
    Nothing,
    Writes,
    All,
}

#[derive(Debug, Default)]
struct Orders {
    lost: Lost,
    late_by: Duration,
    link: Option<UnboundedSender<Command>>,
}

impl LinkFaults {
    /// From now on answers of this kind are lost, although the store does what it is asked.
    pub(crate) fn lose_answers(&self, lost: Lost) {
        self.lock().lost = lost;
    }

    /// From now on messages of the store are delayed by up to this much, and overtake each other.
    pub(crate) fn delay(&self, up_to: Duration) {
        self.lock().late_by = up_to;
    }

    /// Makes the client open a new session while the old one lives, and report only the new one.
    pub(crate) fn replace_session(&self) {
        self.order(Command::Replace);
    }

    /// Makes the client drop its session while the store still keeps it.
    pub(crate) fn give_session_up(&self) {
        self.order(Command::Renew);
    }

    /// Makes the client move to another server.
    pub(crate) fn move_on(&self) {
        self.order(Command::MoveOn);
    }

    fn order(&self, command: Command) {
        if let Some(link) = &self.lock().link {
            // A link that has ended takes no faults.
            drop(link.send(command));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Orders> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One node's connection to the simulated store. Dropping it has the effect of a crash.
#[derive(Debug)]
pub(crate) struct SimStore {
    family: Family,
    commands: UnboundedSender<Command>,
    events: UnboundedReceiver<StoreEvent>,
    link: JoinHandle<()>,
}

#[derive(Debug)]
enum Command {
    Send(OpId, Request),
    Renew,
    Replace,
    MoveOn,
    Close,
}

impl SimStore {
    /// Opens the link to a store of this family, on the node's host. `servers` is the number of the store's servers.
    pub(crate) fn open(
        family: Family,
        participant: Participant,
        servers: u8,
        net: Arc<dyn Net>,
        clock: Arc<dyn Clock>,
        mut entropy: Box<dyn Entropy>,
        link_faults: LinkFaults,
    ) -> Self {
        let Participant { id, address, session_timeout, registration, .. } = participant;
        let (commands, orders) = unbounded_channel();
        let (told, events) = unbounded_channel();
        link_faults.lock().link = Some(commands.clone());
        let servers = servers.max(1);
        let first = u8::try_from(entropy.bits() % u64::from(servers)).unwrap_or(0);
        let link = Link {
            client: Client {
                id: id.into(),
                address: address.unwrap_or_default().into(),
                metadata: registration.metadata,
            },
            timeout: session_timeout,
            family,
            servers,
            server: Server(first),
            net,
            entropy,
            link_faults,
            state: State::Seeking { at: clock.now() },
            clock,
            session: None,
            heard_at: Time::ZERO,
            pending: BTreeMap::new(),
            late: BTreeMap::new(),
            deliveries: 0,
            session_news_at: Time::ZERO,
            closing: false,
            commands: orders,
            events: told,
        };
        Self { family, commands, events, link: tokio::spawn(link.run()) }
    }

    fn order(&self, command: Command) {
        // The link ends only once the session is closed, and then nothing is left to do.
        drop(self.commands.send(command));
    }
}

impl Store for SimStore {
    fn family(&self) -> Family {
        self.family
    }

    fn send(&mut self, id: OpId, request: Request) {
        self.order(Command::Send(id, request));
    }

    fn renew(&mut self) {
        self.order(Command::Renew);
    }

    fn close(&mut self) {
        self.order(Command::Close);
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<StoreEvent> {
        match self.events.poll_recv(context) {
            Poll::Ready(Some(event)) => Poll::Ready(event),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

impl Drop for SimStore {
    fn drop(&mut self) {
        self.link.abort();
    }
}

/// The task behind a [`SimStore`].
struct Link {
    client: Client,
    timeout: Duration,
    family: Family,
    servers: u8,
    server: Server,
    net: Arc<dyn Net>,
    clock: Arc<dyn Clock>,
    entropy: Box<dyn Entropy>,
    link_faults: LinkFaults,
    state: State,
    session: Option<Session>,
    /// Time of the store's last message.
    heard_at: Time,
    /// Requests under way.
    pending: BTreeMap<OpId, Effect>,
    /// Events on their way to the node.
    late: BTreeMap<(Time, u64), StoreEvent>,
    deliveries: u64,
    session_news_at: Time,
    closing: bool,
    commands: UnboundedReceiver<Command>,
    events: UnboundedSender<StoreEvent>,
}

enum State {
    /// Connects at this time.
    Seeking {
        at: Time,
    },
    Connecting {
        stream: BoxFuture<'static, io::Result<Box<dyn Stream>>>,
        until: Time,
    },
    /// Connected, but its session is not known yet.
    Greeting {
        line: Line,
        until: Time,
    },
    Up {
        line: Line,
        ping_at: Time,
    },
}

/// Time before a link tries the next server.
const BACKOFF: Duration = Duration::from_millis(250);

enum Turn {
    Alarm,
    Command(Option<Command>),
    Connected(io::Result<Box<dyn Stream>>),
    Heard(Heard<Word>),
}

impl Link {
    async fn run(mut self) {
        while !self.is_over() {
            let turn = self.turn().await;
            match turn {
                Turn::Alarm => self.alarm(),
                Turn::Command(Some(command)) => self.obey(command),
                Turn::Command(None) => return,
                Turn::Connected(Ok(stream)) => self.greet(stream),
                Turn::Connected(Err(_)) | Turn::Heard(Heard::End) => self.lose_line(),
                Turn::Heard(Heard::Sent) => {}
                Turn::Heard(Heard::Word(word)) => self.hear(word),
            }
        }
    }

    /// True once the link is closed and all its events are delivered.
    fn is_over(&self) -> bool {
        self.closing && self.session.is_none() && self.late.is_empty()
    }

    async fn turn(&mut self) -> Turn {
        let alarm = self.clock.sleep_until(self.next_alarm());
        tokio::select! {
            () = alarm => Turn::Alarm,
            command = self.commands.recv() => Turn::Command(command),
            turn = self.state.turn() => turn,
        }
    }

    fn next_alarm(&self) -> Time {
        let state = match &self.state {
            State::Seeking { at } => *at,
            State::Connecting { until, .. } | State::Greeting { until, .. } => *until,
            State::Up { ping_at, .. } => (*ping_at).min(self.silent_at()),
        };
        let late = self.late.keys().next().map(|(at, _)| *at);
        late.into_iter().chain(self.gives_up_at()).fold(state, Time::min)
    }

    fn silent_at(&self) -> Time {
        self.heard_at + self.timeout * 2 / 3
    }

    /// Time at which a client without a connection takes its session for lost.
    fn gives_up_at(&self) -> Option<Time> {
        let up = matches!(self.state, State::Up { .. });
        self.session.filter(|_| !up).map(|_| self.heard_at + self.timeout * 7 / 5)
    }

    fn alarm(&mut self) {
        let now = self.clock.now();
        while let Some(entry) = self.late.first_entry().filter(|entry| entry.key().0 <= now) {
            // A node that is gone does not listen.
            drop(self.events.send(entry.remove()));
        }
        if self.gives_up_at().is_some_and(|at| at <= now) {
            self.forget_session();
        }
        let silent = self.silent_at() <= now;
        match &mut self.state {
            State::Seeking { at } if *at <= now => self.connect(),
            State::Connecting { until, .. } | State::Greeting { until, .. } if *until <= now => self.lose_line(),
            State::Up { .. } if silent => self.lose_line(),
            State::Up { line, ping_at } if *ping_at <= now => {
                line.say(&Call::Ping);
                *ping_at = now + self.family.ping_interval(self.timeout);
            }
            State::Seeking { .. } | State::Connecting { .. } | State::Greeting { .. } | State::Up { .. } => {}
        }
    }

    fn connect(&mut self) {
        let (net, address) = (Arc::clone(&self.net), format!("{}:{PORT}", host(self.server)));
        let until = self.clock.now() + self.patience();
        self.state = State::Connecting { stream: Box::pin(async move { net.connect(&address).await }), until };
    }

    /// Longest time that a server may take to accept the session.
    fn patience(&self) -> Duration {
        (self.timeout / 3).max(Duration::from_millis(100))
    }

    fn greet(&mut self, stream: Box<dyn Stream>) {
        let mut line = Line::new(stream);
        line.say(&Call::Connect { client: self.client.clone(), previous: self.session, timeout: self.timeout });
        self.state = State::Greeting { line, until: self.clock.now() + self.patience() };
    }

    /// Drops the connection. Requests under way on it may have been carried out.
    fn lose_line(&mut self) {
        let was_up = matches!(self.state, State::Up { .. });
        self.server = Server((self.server.0 + 1) % self.servers);
        let jitter = Duration::from_millis(self.entropy.bits() % 100);
        self.state = State::Seeking { at: self.clock.now() + BACKOFF + jitter };
        if !was_up {
            return;
        }
        for id in core::mem::take(&mut self.pending).into_keys() {
            self.tell(StoreEvent::Answered { id, answer: Answer::Unknown });
        }
        self.tell(StoreEvent::Suspended);
        if self.closing {
            self.close_now();
        }
    }

    fn forget_session(&mut self) {
        self.pending.clear();
        if self.session.take().is_some() {
            self.tell(StoreEvent::Lost);
        }
    }

    fn close_now(&mut self) {
        self.session = None;
        self.pending.clear();
        self.tell(StoreEvent::Closed);
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Send(id, request) => self.ask(id, request),
            Command::Renew => {
                self.forget_session();
                self.state = State::Seeking { at: self.clock.now() };
            }
            Command::Replace if self.session.is_some() => {
                self.session = None;
                self.pending.clear();
                self.state = State::Seeking { at: self.clock.now() };
            }
            Command::MoveOn if matches!(self.state, State::Up { .. }) => self.lose_line(),
            Command::Replace | Command::MoveOn => {}
            Command::Close => {
                self.closing = true;
                match &mut self.state {
                    State::Up { line, .. } => line.say(&Call::Close),
                    State::Seeking { .. } | State::Connecting { .. } | State::Greeting { .. } => self.close_now(),
                }
            }
        }
    }

    fn ask(&mut self, id: OpId, request: Request) {
        match &mut self.state {
            State::Up { line, .. } => {
                self.pending.insert(id, request.effect());
                line.say(&Call::Request { id, request });
            }
            State::Seeking { .. } | State::Connecting { .. } | State::Greeting { .. } => {
                self.tell(StoreEvent::Answered { id, answer: Answer::Refused(Refusal::Disconnected) });
            }
        }
    }

    fn hear(&mut self, word: Word) {
        self.heard_at = self.clock.now();
        let output = match word {
            Word::Pong => return,
            Word::Says(output) => output,
        };
        match output {
            Output::Connected { session, timeout } => self.come_up(session, timeout),
            Output::Expired { .. } => {
                self.forget_session();
                self.state = State::Seeking { at: self.clock.now() };
                if self.closing {
                    self.tell(StoreEvent::Closed);
                }
            }
            Output::Rejected { .. } | Output::Disconnected { .. } => self.lose_line(),
            Output::Answered { id, answer, .. } => {
                let lost = match (self.link_faults.lock().lost, self.pending.get(&id)) {
                    (Lost::All, Some(_)) | (_, None) => true,
                    (Lost::Writes, Some(effect)) => effect.is_write(),
                    (Lost::Nothing, Some(_)) => false,
                };
                if !lost {
                    self.pending.remove(&id);
                    self.tell(StoreEvent::Answered { id, answer });
                }
            }
            Output::Noticed { id, notice, .. } => self.tell(StoreEvent::Noticed { id, notice }),
            Output::Closed { .. } => self.close_now(),
        }
    }

    fn come_up(&mut self, session: Session, timeout: Duration) {
        let state = core::mem::replace(&mut self.state, State::Seeking { at: Time::MAX });
        let State::Greeting { line, .. } = state else { return self.lose_line() };
        self.timeout = timeout;
        self.session = Some(session);
        self.state = State::Up { line, ping_at: self.clock.now() + self.family.ping_interval(timeout) };
        self.tell(StoreEvent::Up { session, timeout });
    }

    /// Queues an event for the node. Events of the session keep their order; answers and notices come by roads of their
    /// own.
    fn tell(&mut self, event: StoreEvent) {
        let late_by = u64::try_from(self.link_faults.lock().late_by.as_nanos()).unwrap_or(u64::MAX);
        let late = if late_by == 0 { 0 } else { self.entropy.bits() % late_by };
        let mut at = self.clock.now() + Duration::from_nanos(late);
        match event {
            StoreEvent::Answered { .. } | StoreEvent::Noticed { .. } | StoreEvent::Denied(_) => {}
            StoreEvent::Up { .. } | StoreEvent::Suspended | StoreEvent::Lost | StoreEvent::Closed => {
                at = at.max(self.session_news_at);
                self.session_news_at = at;
            }
        }
        self.deliveries += 1;
        self.late.insert((at, self.deliveries), event);
    }
}

impl State {
    async fn turn(&mut self) -> Turn {
        match self {
            Self::Seeking { .. } => core::future::pending().await,
            Self::Connecting { stream, .. } => Turn::Connected(stream.await),
            Self::Greeting { line, .. } | Self::Up { line, .. } => Turn::Heard(line.next().await),
        }
    }
}
