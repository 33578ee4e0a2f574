//! One run: its hosts, the time that passes, and the faults.

use core::panic::AssertUnwindSafe;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use rolecall_core::store::{Machine, Server, Timing};
use rolecall_core::{Family, Objection, Time, Violation};
use turmoil::Sim;

use super::acts::ActList;
use super::clock::{EPOCH_S, TrueTime};
use super::evidence::Gathered;
use super::host::{Common, Controls};
use super::inject::Mend;
use super::judge::{Judge, Seen};
use super::net::SimNet;
use super::notebook::Notebook;
use super::run::{Broken, HostState, MomentKind, Run};
use super::simulation::Simulation;
use super::storage::{self, StorageHost};
use super::store::{self, Hub};
use super::visitor::{Visitor, VisitorLog};
use rolecall::journal::{Place, replay};
use rolecall::{Outcome, SeededEntropy};

/// Name of the store, for all its servers together; each server is a host of its own.
pub(super) const STORE: &str = "store";
pub(super) const VISITOR: &str = "visitor";

/// Time that a node which ended by itself stays down.
pub(super) const RESTART: Duration = Duration::from_secs(1);

pub(super) struct World<'a> {
    pub(super) settings: &'a Simulation,
    pub(super) sim: Sim<'static>,
    pub(super) truth: TrueTime,
    pub(super) hub: Hub,
    pub(super) hosts: Vec<Controls>,
    /// True for each host that runs or is paused.
    pub(super) up: Vec<bool>,
    /// Hosts that never come back.
    pub(super) lost: BTreeSet<usize>,
    pub(super) judge: Judge,
    pub(super) notebook: Notebook,
    pub(super) acts: ActList,
    pub(super) visitor: VisitorLog,
    gathered: Gathered,
    pub(super) entropy: SeededEntropy,
    /// Ends of faults, by the time at which they are due.
    pub(super) mends: BTreeMap<(Time, u64), Mend>,
    pub(super) mends_made: u64,
    /// True times at which the wall clock of the store's server stepped forward, within the last lease.
    pub(super) steps_forward: Vec<Time>,
}

impl<'a> World<'a> {
    pub(super) fn new(settings: &'a Simulation) -> Self {
        let truth = TrueTime::default();
        let notebook = Notebook::new(settings.is_replayed);
        let acts = ActList::default();
        let common = Common {
            seed: settings.seed,
            truth: truth.clone(),
            session_timeout: settings.session_timeout,
            election: settings.timing(),
            servers: settings.store_servers(),
            first_observer: settings.nodes.saturating_sub(settings.observers).into(),
            notebook: notebook.clone(),
            acts: acts.clone(),
        };
        let hosts: Vec<_> =
            (0..usize::from(settings.nodes)).map(|number| Controls::new(number, common.clone())).collect();
        let seen = hosts.iter().map(|host| Seen::new(Arc::clone(&host.name), host.clock.clone())).collect();
        let trace_from = settings.traced_from.map(|from| Time::ZERO + from);
        let mut world = Self {
            settings,
            sim: sim(settings),
            hub: Hub::new(truth.clone(), machine(settings)),
            truth,
            up: vec![true; hosts.len()],
            lost: BTreeSet::new(),
            hosts,
            judge: Judge::new(seen, settings.seed, trace_from, settings.keeps_history),
            notebook,
            acts,
            visitor: VisitorLog::default(),
            gathered: settings.gather.as_ref().map(|gather| gather()),
            entropy: SeededEntropy::new(settings.seed ^ 0x776f_726c_6400),
            mends: BTreeMap::new(),
            mends_made: 0,
            steps_forward: Vec::new(),
        };
        world.visitor.disturbed(Time::ZERO + world.settings.start_gap * u32::from(world.settings.nodes - 1), false);
        world.populate();
        world
    }

    fn populate(&mut self) {
        for server in self.servers() {
            let (hub, truth) = (self.hub.clone(), self.truth.clone());
            self.sim.host(store::host(server), move || {
                let net = SimNet::steady(truth.clone());
                let hub = hub.clone();
                async move { Ok(hub.serve(server, net).await?) }
            });
        }
        if let Some(keep) = self.settings.storage.clone() {
            let truth = self.truth.clone();
            self.sim.host(storage::HOST, move || {
                let kept = keep(StorageHost::new(truth.clone()));
                async move { Ok(kept.await?) }
            });
        }
        for host in &self.hosts {
            let (controls, node) = (host.clone(), Arc::clone(&self.settings.node));
            let first_at = self.settings.start_gap * u32::try_from(host.number).unwrap_or(u32::MAX);
            self.sim.host(&*host.name, move || {
                let node = Arc::clone(&node);
                controls.clone().run(first_at, move |host| node(host))
            });
        }
        for (number, visit) in (0..).zip(&self.settings.visits) {
            let addresses = self.hosts.iter().map(Controls::address).collect();
            let (truth, seed) = (self.truth.clone(), self.settings.seed);
            let visitor = Visitor::new(number, addresses, truth, seed, self.gathered.clone(), self.visitor.clone());
            let visit = visit(visitor);
            self.sim.client(visitor_name(number), async move { Ok(visit.await?) });
        }
    }

    pub(super) fn servers(&self) -> impl Iterator<Item = Server> + use<> {
        (0..self.settings.store_servers()).map(Server)
    }

    /// The hosts that are there or come back.
    pub(super) fn remaining(&self) -> impl Iterator<Item = &Controls> {
        self.hosts.iter().filter(|host| !self.lost.contains(&host.number))
    }

    pub(super) fn run(mut self) -> Run {
        let finished = catch_unwind(AssertUnwindSafe(|| {
            self.live();
            if self.judge.run.finding.is_none() {
                self.come_to_rest();
            }
            if self.judge.run.finding.is_none() {
                self.replay();
            }
        }));
        let now = self.now();
        let simulated = now.since(Time::ZERO);
        let Self { sim, mut judge, visitor, gathered, .. } = self;
        if let Err(panic) = finished {
            judge.find(now, "cluster", Broken::Panic(words(&*panic)));
            // A simulation that panicked may panic again when it is dropped.
            core::mem::forget(sim);
        }
        if let Some(gathered) = gathered {
            judge.weigh(&*gathered);
        }
        judge.run.tally = visitor.tally();
        judge.finish(simulated)
    }

    pub(super) fn now(&self) -> Time {
        self.truth.now()
    }

    /// Runs the part in which faults happen.
    fn live(&mut self) {
        let end = Time::ZERO + self.settings.length;
        let mut faults = self.settings.plan.faults().iter().copied().peekable();
        while self.now() < end && self.judge.run.finding.is_none() {
            let now = self.now();
            while let Some((_, fault)) = faults.next_if(|(at, _)| Time::ZERO + *at <= now) {
                self.inject(fault);
            }
            self.step();
        }
    }

    /// Takes one step of the simulation.
    pub(super) fn step(&mut self) {
        let now = self.now();
        while let Some(entry) = self.mends.first_entry().filter(|entry| entry.key().0 <= now) {
            let mend = entry.remove();
            self.mend(mend);
            self.disturbed();
        }
        let stepped = self.sim.step();
        self.truth.set(self.sim.elapsed());
        self.judge.judge(self.truth.now(), self.notebook.take(), self.acts.take(), self.visitor.take());
        if let Err(error) = stepped {
            self.judge.find(self.truth.now(), VISITOR, Broken::Answer(error.to_string()));
        }
        if let Err(broken) = self.hub.check() {
            self.judge.find(self.truth.now(), STORE, Broken::Store(broken));
        }
        self.see_to_the_dead();
    }

    /// Restarts nodes that have ended by themselves, as a supervisor would.
    fn see_to_the_dead(&mut self) {
        for number in 0..self.hosts.len() {
            let Some(outcome) = self.hosts[number].ended() else { continue };
            let (now, name) = (self.now(), Arc::clone(&self.hosts[number].name));
            self.judge.note(now, &name, MomentKind::Fault, &outcome.to_string());
            self.judge.host(now, number, HostState::Down);
            self.up[number] = false;
            match outcome {
                Outcome::Refused(Objection::SettingsDiffer { .. } | Objection::SettingsDenied { .. }) => {
                    self.judge.find(now, &name, Broken::Unrest(outcome.to_string()));
                }
                Outcome::Exited | Outcome::Refused(_) | Outcome::Halted(Violation::StopOverran) => {}
                Outcome::Halted(violation) => self.judge.find(now, &name, Broken::Promise(violation)),
            }
            let down = self.hosts[number].down_for().unwrap_or(RESTART);
            self.hosts[number].gone();
            self.later(down, Mend::Start(number));
            self.disturbed();
        }
    }

    /// Replays the journal of each life of each node on a state machine of its own.
    fn replay(&mut self) {
        for journal in self.notebook.journals() {
            let lines = journal.into_iter().enumerate();
            let records = lines.map(|(line, record)| Ok((Place { file: PathBuf::new(), line }, record)));
            if let Err(error) = replay(records) {
                self.judge.find(self.truth.now(), "cluster", Broken::Replay(error.to_string()));
            }
        }
    }
}

fn machine(settings: &Simulation) -> Machine {
    match settings.election {
        Family::Queue => Machine::new(Timing::bounded(settings.store_tick), settings.store_servers()),
        Family::Lease => Machine::with_lease(Timing::unbounded(Duration::ZERO)),
    }
}

/// The host name of a visitor, counted from 0.
pub(super) fn visitor_name(number: u32) -> String {
    match number {
        0 => VISITOR.to_owned(),
        1.. => format!("{VISITOR}-{}", u64::from(number) + 1),
    }
}

fn sim(settings: &Simulation) -> Sim<'static> {
    turmoil::Builder::new()
        .rng_seed(settings.seed)
        .epoch(SystemTime::UNIX_EPOCH + Duration::from_secs(EPOCH_S))
        .tick_duration(settings.resolution)
        .min_message_latency(settings.latency.0)
        .max_message_latency(settings.latency.1)
        // A run decides itself when it is over.
        .simulation_duration(Duration::MAX)
        // A paused host keeps new connections, and the messages to it, in its queue.
        .tcp_capacity(4_096)
        // Attempts to connect across a partition use up one port each.
        .ephemeral_ports(1_024..=65_535)
        .enable_random_order()
        .build()
}

fn words(panic: &(dyn core::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
