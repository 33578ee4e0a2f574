//! A simulation: the nodes to run, their world, and the faults.

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use rolecall_core::Family;
use rolecall_core::election::Timing;

use super::evidence::{ErasedEvidence, Evidence};
use super::host::Host;
use super::plan::Plan;
use super::run::Run;
use super::storage::StorageHost;
use super::visitor::Visitor;
use super::world::World;
use rolecall::BoxFuture;
use rolecall::http::HttpNodeBuilder;

type MakeNode = Arc<dyn Fn(&Host) -> HttpNodeBuilder + Send + Sync>;
type Visit = Arc<dyn Fn(Visitor) -> BoxFuture<'static, Result<(), String>> + Send + Sync>;
type Gather = Arc<dyn Fn() -> Arc<dyn ErasedEvidence> + Send + Sync>;
type Keep = Arc<dyn Fn(StorageHost) -> BoxFuture<'static, io::Result<()>> + Send + Sync>;

/// A cluster in one thread, on simulated machines. The same settings always give the same run.
#[derive(Clone)]
pub struct Simulation {
    pub(super) node: MakeNode,
    pub(super) visits: Vec<Visit>,
    pub(super) gather: Option<Gather>,
    pub(super) storage: Option<Keep>,
    pub(super) election: Family,
    pub(super) nodes: u8,
    pub(super) observers: u8,
    pub(super) servers: u8,
    pub(super) seed: u64,
    pub(super) plan: Plan,
    pub(super) length: Duration,
    pub(super) session_timeout: Duration,
    pub(super) store_tick: Duration,
    pub(super) resolution: Duration,
    pub(super) latency: (Duration, Duration),
    pub(super) start_gap: Duration,
    pub(super) traced_from: Option<Duration>,
    pub(super) keeps_history: bool,
    pub(super) is_replayed: bool,
}

impl fmt::Debug for Simulation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Simulation")
            .field("election", &self.election)
            .field("nodes", &self.nodes)
            .field("seed", &self.seed)
            .field("plan", &self.plan)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

impl Simulation {
    /// Three nodes for a minute, without faults. `node` is called whenever a node starts.
    #[must_use]
    pub fn new(node: impl Fn(&Host) -> HttpNodeBuilder + Send + Sync + 'static) -> Self {
        Self {
            node: Arc::new(node),
            visits: Vec::new(),
            gather: None,
            storage: None,
            election: Family::Queue,
            nodes: 3,
            observers: 0,
            servers: 3,
            seed: 0,
            plan: Plan::calm(),
            length: Duration::from_secs(60),
            session_timeout: Duration::from_secs(4),
            store_tick: Duration::from_millis(400),
            resolution: Duration::from_millis(10),
            latency: (Duration::from_millis(1), Duration::from_millis(40)),
            start_gap: Duration::ZERO,
            traced_from: None,
            keeps_history: false,
            is_replayed: false,
        }
    }

    /// Adds a visitor, which asks the cluster for answers throughout the run. It must not end by itself; an error from
    /// it is a wrong answer. Each call adds another visitor, on a machine of its own.
    #[must_use]
    pub fn visitor<F>(mut self, visit: impl Fn(Visitor) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.visits.push(Arc::new(move |visitor| Box::pin(visit(visitor))));
        self
    }

    /// Gathers evidence. `begin` makes it, empty, for each run; visitors add to it ([`Visitor::evidence`]); at the end
    /// of the run it gives its verdict.
    #[must_use]
    pub fn evidence<E: Evidence>(mut self, begin: impl Fn() -> E + Send + Sync + 'static) -> Self {
        self.gather = Some(Arc::new(move || Arc::new(begin())));
        self
    }

    /// Adds a machine that all nodes share, for a storage of the application's own such as a database. It stands beside
    /// the store: a fault on the links between a node and the whole store strikes the node's link to the storage too.
    /// It never crashes.
    #[must_use]
    pub fn storage<F>(mut self, keep: impl Fn(StorageHost) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        self.storage = Some(Arc::new(move |host| Box::pin(keep(host))));
        self
    }

    /// Family of the election: what the store keeps. Default: a queue.
    #[must_use]
    pub fn election(mut self, election: Family) -> Self {
        self.election = election;
        self
    }

    /// Number of nodes. Default: 3.
    #[must_use]
    pub fn nodes(mut self, nodes: u8) -> Self {
        self.nodes = nodes.max(1);
        self
    }

    /// Number of nodes that only look on, counted from the last. Default: 0.
    #[must_use]
    pub fn observers(mut self, observers: u8) -> Self {
        self.observers = observers;
        self
    }

    /// Number of servers of a store that keeps a queue. Default: 3. One that keeps a lease has one.
    #[must_use]
    pub fn servers(mut self, servers: u8) -> Self {
        self.servers = servers.max(1);
        self
    }

    /// Seed of all randomness. Default: 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Faults that happen during the run. Default: none.
    #[must_use]
    pub fn plan(mut self, plan: Plan) -> Self {
        self.plan = plan;
        self
    }

    /// Time in which faults may happen. Then all of them end, and the cluster has to come to rest. Default: 60 s.
    #[must_use]
    pub fn length(mut self, length: Duration) -> Self {
        self.length = length;
        self
    }

    /// Session timeout of every node, and time to live of a lease. Default: 4 s.
    #[must_use]
    pub fn session_timeout(mut self, timeout: Duration) -> Self {
        self.session_timeout = timeout;
        self
    }

    /// Time step of the network, and range of the time that a message takes. A shorter step is finer and slower to run.
    /// Latencies are more often near the first bound than the second, and never below one step. Default: 10 ms, and 1
    /// to 40 ms.
    #[must_use]
    pub fn network(mut self, resolution: Duration, latency: (Duration, Duration)) -> Self {
        self.resolution = resolution;
        self.latency = latency;
        self
    }

    /// Time between the starts of the nodes, which start one after the other. Default: zero, all at once.
    #[must_use]
    pub fn start_gap(mut self, gap: Duration) -> Self {
        self.start_gap = gap;
        self
    }

    /// Writes the run down as text ([`Run::trace`]), from this time on.
    #[must_use]
    pub fn traced_from(mut self, from: Duration) -> Self {
        self.traced_from = Some(from);
        self
    }

    /// Writes the run down for a report ([`Run::history`]) if true.
    #[must_use]
    pub fn with_history(mut self, keeps_history: bool) -> Self {
        self.keeps_history = keeps_history;
        self
    }

    /// Replays the journal of each node through a state machine of its own at the end, if true, and expects the same
    /// actions.
    #[must_use]
    pub fn replayed(mut self, is_replayed: bool) -> Self {
        self.is_replayed = is_replayed;
        self
    }

    /// Number of servers that the store has.
    pub(super) fn store_servers(&self) -> u8 {
        match self.election {
            Family::Queue => self.servers,
            Family::Lease => 1,
        }
    }

    /// Times of the store's election, as its nodes know them.
    pub(super) fn timing(&self) -> Timing {
        match self.election {
            Family::Queue => Timing::queue(self.store_tick),
            Family::Lease => Timing::LEASE,
        }
    }

    /// Runs the simulation to its end, or to the first broken promise.
    #[must_use]
    pub fn run(&self) -> Run {
        World::new(self).run()
    }
}
