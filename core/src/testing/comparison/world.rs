//! All processes of one election under one clock.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::time::Duration;

use super::count::{Purpose, Purposeful};
use super::fault::{Fault, Victim, plan};
use super::history::{History, MomentKind, State};
use super::network::{Network, Passage, Transport};
use super::process::{Process, told};
use super::{Run, Setting};
use crate::Time;
use crate::election::textbook::{Contender, Envelope, Event, Peer};
use crate::testing::Dice;

/// Time between the starts of two nodes.
const STAGGER: Duration = Duration::from_millis(100);
/// Time that a process needs to get going after it stood still. A request on an open connection is served before that.
const GETTING_UP: Duration = Duration::from_millis(1);
/// Shortest time between two wakes of a process.
const TURN: Duration = Duration::from_micros(1);

/// A contender with its number.
pub(super) type Part<M> = (Peer, Box<dyn Contender<Message = M>>);

/// Processes, the network between them, and all that is going to happen.
pub(super) struct World<M> {
    now: Time,
    processes: BTreeMap<Peer, Process<M>>,
    network: Network,
    dice: Dice,
    agenda: BTreeMap<(Time, u64), Item<M>>,
    planned: u64,
    believers: BTreeSet<Peer>,
    leaders: usize,
    /// Time since when nobody leads, and the number of elections until then; `None` while somebody leads, and before the
    /// first leader.
    leaderless_since: Option<(Time, u64)>,
    run: Run,
    history: History,
}

enum Item<M> {
    Start(Peer),
    Deliver { from: Peer, to: Peer, life: u32, message: M },
    Resume(Peer, u32),
    Fault(Fault),
    Mend(Fault),
}

impl<M: Purposeful> World<M> {
    /// Simulates one run of these contenders.
    pub(super) fn run(
        setting: &Setting,
        seed: u64,
        transport: Transport,
        contenders: impl IntoIterator<Item = Part<M>>,
    ) -> Run {
        let mut world = Self {
            now: Time::ZERO,
            processes: BTreeMap::new(),
            network: Network::new(transport, seed),
            dice: Dice::new(seed ^ 0x7374_6172),
            agenda: BTreeMap::new(),
            planned: 0,
            believers: BTreeSet::new(),
            leaders: 0,
            leaderless_since: None,
            run: Run::default(),
            history: History::new(setting.has_history),
        };
        for (place, (peer, contender)) in (0..).zip(contenders) {
            world.processes.insert(peer, Process::new(contender));
            world.plan(Time::ZERO + STAGGER * place, Item::Start(peer));
        }
        for (at, fault) in plan(setting, seed) {
            world.plan(Time::ZERO + at, Item::Fault(fault));
        }
        world.play(Time::ZERO + setting.length + setting.rest)
    }

    fn play(mut self, end: Time) -> Run {
        while let Some(at) = self.next_instant().filter(|at| *at <= end) {
            self.pass(at);
            self.turn();
            self.judge();
        }
        self.pass(end);
        if let Some((since, _)) = self.leaderless_since {
            self.run.heals.push(end.since(since));
        }
        self.run.simulated = end.since(Time::ZERO);
        self.run.history = self.history.into_moments();
        self.run
    }

    fn plan(&mut self, at: Time, item: Item<M>) {
        self.planned += 1;
        self.agenda.insert((at, self.planned), item);
    }

    fn next_instant(&self) -> Option<Time> {
        let planned = self.agenda.keys().next().map(|(at, _)| *at);
        let wakes = self.processes.values().filter_map(Process::wakes_at);
        let ends = self.processes.values().filter_map(|process| process.belief_ends_at(self.now));
        wakes.chain(ends).chain(planned).min().map(|at| at.max(self.now))
    }

    /// Lets time pass in which nothing happens.
    fn pass(&mut self, at: Time) {
        let passed = at.since(self.now);
        match self.leaders {
            0 if self.leaderless_since.is_some() => self.run.leaderless += passed,
            0 | 1 => {}
            2.. => self.run.two_leaders += passed,
        }
        self.now = at;
    }

    fn turn(&mut self) {
        while let Some(entry) = self.agenda.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let item = entry.remove();
            self.happen(item);
        }
        let due: Vec<Peer> = self
            .processes
            .iter()
            .filter(|(_, process)| process.wakes_at().is_some_and(|at| at <= self.now))
            .map(|(peer, _)| *peer)
            .collect();
        for peer in due {
            self.give(peer, Event::Wake);
            self.process(peer).busy_until = self.now + TURN;
        }
    }

    fn process(&mut self, peer: Peer) -> &mut Process<M> {
        self.processes.get_mut(&peer).expect("only processes that exist are named")
    }

    fn happen(&mut self, item: Item<M>) {
        match item {
            Item::Start(peer) => self.start(peer),
            Item::Deliver { from, to, life, message } => self.deliver(from, to, life, message),
            Item::Resume(peer, life) => self.resume(peer, life),
            Item::Fault(fault) => self.suffer(fault),
            Item::Mend(fault) => self.history.note(self.now, None, MomentKind::Mend, format_args!("over: {fault:?}")),
        }
    }

    fn start(&mut self, peer: Peer) {
        let seed = self.dice.below(1 << 48) << 16;
        self.process(peer).restart(seed);
        self.history.note(self.now, Some(peer), MomentKind::State(State::Up), format_args!("starts"));
        self.give(peer, Event::Start);
    }

    fn resume(&mut self, peer: Peer, life: u32) {
        let now = self.now;
        let process = self.process(peer);
        if process.life != life {
            return;
        }
        (process.state, process.busy_until) = (State::Up, now + GETTING_UP);
        for (from, message) in core::mem::take(&mut process.mailbox) {
            self.plan(now + GETTING_UP, Item::Deliver { from, to: peer, life, message });
        }
        self.history.note(now, Some(peer), MomentKind::State(State::Up), format_args!("goes on"));
    }

    fn deliver(&mut self, from: Peer, to: Peer, life: u32, message: M) {
        match self.network.passage(from, to, self.now) {
            Passage::Open => {}
            Passage::Lost => return,
            Passage::Until(at) => return self.plan(at, Item::Deliver { from, to, life, message }),
        }
        let now = self.now;
        let process = self.process(to);
        match process.state {
            State::Down => {}
            State::Up | State::Paused if process.life != life => {}
            State::Paused => process.mailbox.push_back((from, message)),
            State::Up if now < process.busy_until => {
                let at = process.busy_until;
                self.plan(at, Item::Deliver { from, to, life, message });
            }
            State::Up => {
                if message.purpose() != Purpose::Upkeep {
                    let event = told(&Event::Received { from, message: message.clone() });
                    self.history.note(now, Some(to), MomentKind::Message, format_args!("{event}"));
                }
                self.give(to, Event::Received { from, message });
            }
        }
    }

    /// Lets a process handle an event, and carries what it sends.
    fn give(&mut self, peer: Peer, event: Event<M>) {
        let now = self.now;
        let mut out = Vec::new();
        let process = self.process(peer);
        let shown = process.clock.shows(now);
        process.contender.handle(shown, event, &mut out);
        if let Err(broken) = process.contender.check() {
            self.run.broken.get_or_insert((now, peer, broken));
        }
        for Envelope { to, message } in out {
            match message.purpose() {
                Purpose::Election => self.run.messages += 1,
                Purpose::Upkeep => self.run.upkeep += 1,
                Purpose::Answer => {}
            }
            let Some(life) = self.processes.get(&to).map(|process| process.life) else { continue };
            if let Some(at) = self.network.arrival(now, peer, to) {
                self.plan(at, Item::Deliver { from: peer, to, life, message });
            }
        }
    }

    fn suffer(&mut self, fault: Fault) {
        self.run.faults += 1;
        self.history.note(self.now, None, MomentKind::Fault, format_args!("{fault:?}"));
        let lasts = match fault {
            Fault::Crash { of, down } => return self.crash(of, down),
            Fault::Pause { of, length } => return self.pause(of, length),
            Fault::Isolate { of, length } => {
                let bit = 1_u32.checked_shl(u32::from(self.victim(of).0)).unwrap_or(0);
                self.network.split(bit, self.now + length);
                length
            }
            Fault::Split { nodes, length } => {
                self.network.split(nodes, self.now + length);
                length
            }
            Fault::ClockRate { of, ppm } => {
                let (peer, now) = (self.victim(of), self.now);
                return self.process(peer).clock.set_rate(now, ppm);
            }
            Fault::StoreClock { by, forward } => {
                if self.processes.contains_key(&Peer::STORE) {
                    self.give(Peer::STORE, Event::ClockSet { by, forward });
                }
                return;
            }
            Fault::Loss { length } => {
                self.network.lose_until(self.now + length);
                length
            }
            Fault::Late { by, length } => {
                self.network.delay_until(by, self.now + length);
                length
            }
        };
        self.plan(self.now + lasts, Item::Mend(fault));
    }

    fn victim(&self, victim: Victim) -> Peer {
        match victim {
            Victim::Node(number) => Peer(number),
            Victim::Leader(number) => {
                let leads = self.processes.iter().find(|(_, process)| process.leads(self.now));
                leads.map_or(Peer(number), |(peer, _)| *peer)
            }
        }
    }

    fn crash(&mut self, of: Victim, down: Duration) {
        let peer = self.victim(of);
        if self.process(peer).state != State::Down {
            self.process(peer).crash();
            self.history.note(self.now, Some(peer), MomentKind::State(State::Down), format_args!("crashes"));
            self.plan(self.now + down, Item::Start(peer));
        }
    }

    fn pause(&mut self, of: Victim, length: Duration) {
        let peer = self.victim(of);
        let process = self.process(peer);
        if process.state == State::Up {
            process.state = State::Paused;
            let life = process.life;
            self.history.note(self.now, Some(peer), MomentKind::State(State::Paused), format_args!("stands still"));
            self.plan(self.now + length, Item::Resume(peer, life));
        }
    }

    /// Looks who leads now.
    fn judge(&mut self) {
        let now = self.now;
        let believers: BTreeSet<Peer> =
            self.processes.iter().filter(|(_, process)| process.believes(now)).map(|(peer, _)| *peer).collect();
        let elections = self.run.elections;
        for peer in believers.difference(&self.believers) {
            self.run.elections += 1;
            self.history.note(now, Some(*peer), MomentKind::Leads, format_args!("leads"));
        }
        for peer in self.believers.difference(&believers) {
            self.history.note(now, Some(*peer), MomentKind::LeadsNoMore, format_args!("leads no more"));
        }
        self.believers = believers;
        let leaders = self.processes.values().filter(|process| process.leads(now)).count();
        match (self.leaders, leaders) {
            (1.., 0) => self.leaderless_since = Some((now, elections)),
            (0, 1..) => self.found_leader(),
            (_, _) => {}
        }
        if leaders > 1 {
            self.run.two_leaders_at.get_or_insert(now);
        }
        self.leaders = leaders;
    }

    /// Ends a time for which nobody led. It needed no healing if the old leader only stood still.
    fn found_leader(&mut self) {
        if let Some((since, elections)) = self.leaderless_since.take()
            && self.run.elections > elections
        {
            self.run.heals.push(self.now.since(since));
        }
    }
}
