//! A whole world in one value: the nodes, the store, and everything under way between them.

mod deliver;
mod host;
mod options;
mod scale;
mod step;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use rolecall_core::rename::ORIGIN;
use rolecall_core::store::{self, Broken, Client, Machine, Output};
use rolecall_core::{Fence, Session, Time, Violation};

pub(crate) use deliver::{Happened, Road};
pub(crate) use host::{Host, News, Process, Sent, Service, name};
pub(crate) use scale::Scale;
pub(crate) use step::Step;

use super::Options;
use super::faults::Faults;

/// An outcome that must never happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Breach {
    /// A promise is broken.
    Promise(Violation),
    /// The store is inconsistent.
    Store(Broken),
    /// A node refused to go on although nothing was wrong with its configuration.
    Refused,
}

impl fmt::Display for Breach {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Promise(violation) => write!(formatter, "{violation}"),
            Self::Store(broken) => write!(formatter, "the store: {broken}"),
            Self::Refused => formatter.write_str("a node refused to go on"),
        }
    }
}

/// The state of an untimed model: every node has a clock of its own, which jumps to the node's next deadline when it
/// wakes; the store's clock stands still.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct World {
    /// True if only answers linger.
    lean: bool,
    pub(crate) scale: Scale,
    pub(crate) store: Machine,
    /// The time of the store.
    pub(crate) now: Time,
    pub(crate) hosts: Vec<Host>,
    /// Faults that may still happen.
    pub(crate) faults: Faults,
    /// Fence of the newest term that began.
    pub(crate) newest: Option<Fence>,
    /// Owner of each session, as its place in `hosts`.
    pub(crate) owners: BTreeMap<Session, usize>,
    /// True once the store has restarted: it may not know of a lease that it has granted.
    pub(crate) has_restarted: bool,
    pub(crate) breach: Option<Breach>,
}

impl World {
    /// A store without clients yet, or a cluster at rest.
    pub(crate) fn new(options: &Options) -> Self {
        let mut world = Self::empty(options, Scale { family: options.family, ..Scale::UNTIMED });
        if options.settled > 0 {
            world.settle(usize::from(options.settled));
        }
        world
    }

    /// A store without clients yet.
    pub(crate) fn empty(options: &Options, scale: Scale) -> Self {
        let scale = Scale { first_observer: options.nodes.saturating_sub(options.observers), ..scale };
        Self {
            lean: options.lean,
            scale,
            store: scale.store(),
            now: ORIGIN,
            hosts: (0..usize::from(options.nodes)).map(|place| Host::new(place, &scale)).collect(),
            faults: options.faults,
            newest: None,
            owners: BTreeMap::new(),
            has_restarted: false,
            breach: None,
        }
    }

    fn settle(&mut self, count: usize) {
        for host in self.hosts.iter_mut().skip(count) {
            host.end(Process::Crashed);
        }
        while let Some(step) = self.fair_step().filter(|_| !self.is_at_rest() && self.breach.is_none()) {
            self.apply(step, &mut Vec::new());
        }
    }

    /// Gives the store an event and passes its outputs on to the hosts concerned.
    pub(crate) fn tell_store(&mut self, place: usize, event: store::Event) {
        let mut out = Vec::new();
        self.store.handle(self.now, event, &mut out);
        for output in out {
            self.hear_store(place, output);
        }
        if let Err(broken) = self.store.check() {
            self.breach.get_or_insert(Breach::Store(broken));
        }
    }

    fn hear_store(&mut self, asking: usize, output: Output) {
        match output {
            Output::Connected { session, .. } => {
                self.owners.insert(session, asking);
                let host = &mut self.hosts[asking];
                (host.session, host.linked) = (Some(session), true);
                host.news.push_back(News::Up(session));
            }
            Output::Expired { session } => {
                if let Some(host) = self.hosts.iter_mut().find(|host| host.session == Some(session)) {
                    (host.session, host.linked) = (None, false);
                    host.news.push_back(News::Lost);
                }
            }
            Output::Answered { session, id, answer } => {
                if let Some(host) = self.listener(session) {
                    host.answers.push_back((id, answer));
                }
            }
            Output::Noticed { session, id, notice } => {
                if let Some(host) = self.listener(session) {
                    host.notices.push_back((id, notice));
                }
            }
            Output::Closed { session } => {
                if let Some(host) = self.listener(session) {
                    (host.session, host.linked) = (None, false);
                }
            }
            Output::Disconnected { session } => {
                if let Some(place) = self.hosts.iter().position(|host| host.linked && host.session == Some(session)) {
                    self.unlink(place);
                }
            }
            Output::Rejected { .. } => {}
        }
    }

    /// The connected host of this session.
    fn listener(&mut self, session: Session) -> Option<&mut Host> {
        self.hosts.iter_mut().find(|host| host.linked && host.session == Some(session))
    }

    /// Sessions that the store keeps although nobody uses them, ordered by host.
    pub(crate) fn orphans(&self) -> Vec<(usize, Session)> {
        let orphan = |session| {
            let place = *self.owners.get(&session)?;
            let host = &self.hosts[place];
            let used = host.session == Some(session) && host.node().is_some();
            (!used && host.may_lose(session)).then_some((place, session))
        };
        let mut orphans: Vec<_> = self.store.sessions().filter_map(|(session, _)| orphan(session)).collect();
        orphans.sort_unstable();
        orphans
    }

    /// True if the lease can end: its holder does not lead, and nothing under way will make it lead. The lease of a leader
    /// never ends, as deadlines guarantee in a world with time.
    pub(crate) fn may_lapse(&self) -> bool {
        self.lessee().is_some_and(|host| !host.is_about_to_lead())
    }

    /// True if the lease ends by itself: its holder neither leads nor has anything under way.
    pub(crate) fn lease_is_idle(&self) -> bool {
        self.may_lapse() && self.lessee().is_some_and(Host::is_quiet)
    }

    /// Holder of the lease.
    fn lessee(&self) -> Option<&Host> {
        let place = self.owners.get(&self.store.lease()?.owner)?;
        Some(&self.hosts[*place])
    }

    /// Number of nodes that lead, as far as P1 goes. A leader whose candidate an outsider deleted does not count: only
    /// its epoch holds it back.
    pub(crate) fn leaders(&self) -> usize {
        self.hosts.iter().filter(|host| host.gate_is_open() && !host.deposed).count()
    }

    fn client(place: usize) -> Client {
        let id = name(place);
        Client { address: Arc::from(format!("{id}:80")), id: Arc::from(id), metadata: Default::default() }
    }
}
