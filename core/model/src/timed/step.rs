//! The steps of a timed world.

use std::time::Duration;

use rolecall_core::store::{self, Answer, Server};
use rolecall_core::{Event, Node, Time};

use super::{GRAIN, LASTING, LONGEST, Timed, UNAWARE};
use crate::faults::Fault;
use crate::world::{Happened, Process, Road};

/// Only server of a store that keeps a lease.
const STORE: Server = Server(0);
/// Length of a step of the store's clock: more than any lease.
const HOUR_MS: i64 = 3_600_000;

/// One step. Hosts are named by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TimedStep {
    /// A grain of time passes.
    Pass,
    /// A message arrives at a node.
    Bring(usize, Road),
    /// A starting service serves; a stopping one is gone.
    Serve(usize),
    /// A node wakes at its deadline.
    Wake(usize),
    /// A client connects to a server, with its old session or for a new one.
    Connect(usize, Server),
    /// A client leaves a server that has lost the others.
    Leave(usize),
    /// A paused process goes on.
    Resume(usize),
    /// A crashed process starts again.
    Restart(usize),
    /// A server finds the others again. The requests it held reach them now, or are lost along with its links.
    Heal {
        deliver: bool,
    },
    /// The replica of a store that keeps a lease has the latest writes again.
    CatchUp,
    /// Faults.
    Crash(usize),
    Cut(usize),
    CutSilently(usize),
    Isolate(Server),
    /// The store's wall clock steps by an hour.
    StepClock {
        forward: bool,
    },
    Reboot {
        keep_data: bool,
    },
    FallBehind,
    Pause(usize),
    Delay(usize),
    Lose(usize),
    GiveUp(usize),
    Resign(usize),
    Shutdown(usize),
}

impl TimedStep {
    /// The fault that this step spends.
    pub(super) const fn fault(self) -> Option<Fault> {
        match self {
            Self::Crash(_) => Some(Fault::Crash),
            Self::Cut(_) | Self::CutSilently(_) => Some(Fault::Cut),
            Self::Isolate(_) => Some(Fault::Server),
            Self::StepClock { .. } => Some(Fault::Clock),
            Self::Reboot { .. } => Some(Fault::Restart),
            Self::FallBehind => Some(Fault::Lag),
            Self::Pause(_) => Some(Fault::Pause),
            Self::Delay(_) => Some(Fault::Late),
            Self::Lose(_) | Self::GiveUp(_) => Some(Fault::Lost),
            Self::Resign(_) => Some(Fault::Resign),
            Self::Shutdown(_) => Some(Fault::Shutdown),
            Self::Pass
            | Self::Bring(..)
            | Self::Serve(_)
            | Self::Wake(_)
            | Self::Connect(..)
            | Self::Leave(_)
            | Self::Resume(_)
            | Self::Restart(_)
            | Self::Heal { .. }
            | Self::CatchUp => None,
        }
    }

    /// The host of this step.
    pub(super) const fn place(self) -> Option<usize> {
        match self {
            Self::Bring(place, _)
            | Self::Serve(place)
            | Self::Wake(place)
            | Self::Connect(place, _)
            | Self::Leave(place)
            | Self::Resume(place)
            | Self::Restart(place)
            | Self::Crash(place)
            | Self::Cut(place)
            | Self::CutSilently(place)
            | Self::Pause(place)
            | Self::Delay(place)
            | Self::Lose(place)
            | Self::GiveUp(place)
            | Self::Resign(place)
            | Self::Shutdown(place) => Some(place),
            Self::Pass
            | Self::Isolate(_)
            | Self::Heal { .. }
            | Self::CatchUp
            | Self::StepClock { .. }
            | Self::Reboot { .. }
            | Self::FallBehind => None,
        }
    }

    /// A note for the trace, beside the event and the actions of a node. `lags`: true while the store's replica does.
    pub(super) fn note(self, lags: bool) -> Option<String> {
        let text = match self {
            Self::Connect(_, server) => return Some(format!("its client connects to server {}", server.0)),
            Self::Isolate(server) => return Some(format!("server {} loses the others", server.0)),
            Self::Bring(_, Road::Late) => "a late answer arrives",
            Self::Leave(_) => "gives its server up",
            Self::Resume(_) => "goes on",
            Self::Restart(_) => "starts again",
            Self::Heal { deliver: true } => "the server finds the others, which learn what it held",
            Self::Heal { deliver: false } => "the server finds the others, without what it held",
            Self::CatchUp => "the replica has the latest writes again",
            Self::StepClock { forward: true } => "the store's wall clock steps forward by an hour",
            Self::StepClock { forward: false } => "the store's wall clock steps back by an hour",
            Self::Reboot { keep_data: true } if lags => "the store restarts; its replica, which lags, takes its place",
            Self::Reboot { keep_data: true } => "the store restarts",
            Self::Reboot { keep_data: false } => "the store restarts without its data",
            Self::FallBehind => "the replica falls behind",
            Self::Crash(_) => "crashes",
            Self::Cut(_) => "is cut off",
            Self::CutSilently(_) => "is cut off, and does not know",
            Self::Pause(_) => "pauses",
            Self::Delay(_) => "the next answer to it will be late",
            Self::Lose(_) => "an answer to it is lost",
            Self::GiveUp(_) => "an answer to it is given up",
            Self::Pass
            | Self::Bring(_, Road::Answers | Road::Notices | Road::News)
            | Self::Serve(_)
            | Self::Wake(_)
            | Self::Resign(_)
            | Self::Shutdown(_) => return None,
        };
        Some(text.to_owned())
    }
}

impl Timed {
    pub(super) fn apply(&mut self, step: TimedStep, seen: &mut Vec<Happened>) {
        if let Some(fault) = step.fault() {
            self.world.faults.spend(fault);
        }
        match step {
            TimedStep::Pass => self.pass(),
            TimedStep::Bring(place, road) => self.world.bring(place, road, seen),
            TimedStep::Serve(place) => self.world.serve(place, seen),
            TimedStep::Wake(place) => self.world.deliver(place, Event::Wake, seen),
            TimedStep::Connect(place, server) => {
                self.clients[place].server = server;
                self.clients[place].idle = Duration::ZERO;
                self.world.connect(place, server);
            }
            TimedStep::Leave(place) | TimedStep::Cut(place) => self.unlink(place),
            TimedStep::CutSilently(place) => {
                self.unlink(place);
                self.world.hosts[place].linked = true;
                self.world.hosts[place].news.pop_back();
                self.clients[place].unaware = Some(Duration::ZERO);
            }
            TimedStep::Resume(place) => self.clients[place].paused = None,
            TimedStep::Pause(place) => self.clients[place].paused = Some(Duration::ZERO),
            TimedStep::Restart(place) => self.world.hosts[place].process = Process::start(place, &self.world.scale),
            TimedStep::Heal { deliver } => self.heal(deliver),
            TimedStep::Isolate(server) => {
                self.isolated = Some((server, Duration::ZERO));
                self.afflict(store::Fault::Cut(server));
            }
            TimedStep::CatchUp => {
                self.lagging = None;
                self.afflict(store::Fault::CatchUp(STORE));
            }
            TimedStep::StepClock { forward } => {
                self.stepped = forward.then_some(Duration::ZERO).or(self.stepped);
                self.afflict(store::Fault::Step { millis: if forward { HOUR_MS } else { -HOUR_MS } });
            }
            TimedStep::Reboot { keep_data } => self.reboot(keep_data),
            TimedStep::FallBehind => {
                self.lagging = Some(Duration::ZERO);
                self.afflict(store::Fault::Lag(STORE));
            }
            TimedStep::Crash(place) => {
                self.hang_up(place);
                self.world.hosts[place].end(Process::Crashed);
                self.clients[place].paused = None;
                self.clients[place].unaware = None;
            }
            TimedStep::Delay(place) => {
                let host = &mut self.world.hosts[place];
                host.late.extend(host.answers.pop_front());
            }
            TimedStep::Lose(place) => {
                self.world.hosts[place].answers.pop_front();
            }
            TimedStep::GiveUp(place) => {
                if let Some((_, answer)) = self.world.hosts[place].answers.front_mut() {
                    *answer = Answer::Unknown;
                }
            }
            TimedStep::Resign(place) => self.world.deliver(place, Event::Resign, seen),
            TimedStep::Shutdown(place) => {
                self.world.hosts[place].stopping = true;
                self.world.deliver(place, Event::Shutdown, seen);
            }
        }
        self.hurry();
    }

    /// Passes a node's requests to the store at once, if its link is alive.
    fn hurry(&mut self) {
        for place in 0..self.clients.len() {
            while !self.world.hosts[place].sent.is_empty() {
                if self.clients[place].unaware.is_some() {
                    self.world.hosts[place].sent.clear();
                } else {
                    self.world.take_sent(place);
                    self.clients[place].idle = Duration::ZERO;
                }
            }
        }
    }

    fn pass(&mut self) {
        self.world.now = self.world.now + self.store_rate.shown(GRAIN);
        for (host, client) in self.world.hosts.iter_mut().zip(&self.clients) {
            if host.node().is_some() {
                host.clock = host.clock + client.rate.shown(GRAIN);
            }
        }
        for place in 0..self.clients.len() {
            self.keep_up(place);
        }
        if let Some((_, since)) = &mut self.isolated {
            *since = (*since + GRAIN).min(LONGEST);
        }
        self.lagging = self.lagging.map(|since| (since + GRAIN).min(LONGEST));
        let lease = self.world.scale.timeout;
        let may_step = self.world.faults.left(Fault::Clock) > 0;
        self.stepped = self.stepped.map(|since| since + GRAIN).filter(|since| may_step && *since < lease);
        self.world.tell_store(0, store::Event::Wake);
    }

    /// Pings the store on behalf of an idle client, and tells a client in the end that its link is dead.
    fn keep_up(&mut self, place: usize) {
        let client = &mut self.clients[place];
        let host = &self.world.hosts[place];
        client.idle = if host.linked { (client.idle + GRAIN).min(self.ping) } else { Duration::ZERO };
        client.away = if host.linked || client.away + GRAIN >= LASTING { Duration::ZERO } else { client.away + GRAIN };
        client.unaware = client.unaware.map(|since| (since + GRAIN).min(UNAWARE));
        client.paused = client.paused.map(|since| (since + GRAIN).min(LONGEST));
        if client.paused.is_some() {
            return;
        }
        match (client.unaware, host.session.filter(|_| client.idle >= self.ping)) {
            (Some(since), _) if since >= UNAWARE => {
                client.unaware = None;
                self.world.unlink(place);
            }
            (None, Some(session)) if host.linked => {
                client.idle = Duration::ZERO;
                self.world.tell_store(place, store::Event::Ping { session });
            }
            (Some(_) | None, _) => {}
        }
    }

    /// A link breaks, and its client knows.
    fn unlink(&mut self, place: usize) {
        self.hang_up(place);
        self.world.unlink(place);
        (self.clients[place].unaware, self.clients[place].away) = (None, Duration::ZERO);
    }

    /// A link breaks, as the store sees it.
    fn hang_up(&mut self, place: usize) {
        self.world.hosts[place].linked = false;
        if let Some(session) = self.world.hosts[place].session {
            self.world.tell_store(place, store::Event::Disconnect { session });
        }
    }

    fn heal(&mut self, deliver: bool) {
        if let Some((server, _)) = self.isolated.take() {
            self.afflict(store::Fault::Heal { server, deliver });
        }
    }

    /// All links break, and a node may hold a lease of which the store knows nothing any more.
    fn reboot(&mut self, keep_data: bool) {
        let linked = |timed: &Self| timed.world.hosts.iter().map(|host| host.linked).collect::<Vec<_>>();
        let before = linked(self);
        self.lagging = None;
        self.world.has_restarted = true;
        self.afflict(store::Fault::Restart { keep_data });
        let after = linked(self);
        for (client, (was, is)) in self.clients.iter_mut().zip(before.into_iter().zip(after)) {
            if was && !is {
                (client.unaware, client.away) = (None, Duration::ZERO);
            }
        }
    }

    fn afflict(&mut self, fault: store::Fault) {
        self.world.tell_store(0, store::Event::Fault(fault));
    }

    /// True if a node's deadline has come.
    pub(super) fn is_due(&self, place: usize) -> bool {
        let host = &self.world.hosts[place];
        let deadline = host.node().and_then(Node::next_deadline);
        deadline.is_some_and(|(at, _)| at < Time::MAX && at <= host.clock)
    }
}
