//! A simulation: what is run, in which world, and with which faults.

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use super::evidence::{ErasedEvidence, Evidence};
use super::host::Host;
use super::plan::Plan;
use super::run::Run;
use super::storage::StorageHost;
use super::visitor::Visitor;
use super::world::World;
use rolecall::{BoxFuture, NodeBuilder};

type MakeNode = Arc<dyn Fn(&Host) -> NodeBuilder + Send + Sync>;
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
    pub(super) nodes: u8,
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
            .field("nodes", &self.nodes)
            .field("seed", &self.seed)
            .field("plan", &self.plan)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

impl Simulation {
    /// Three nodes for a minute, in which nothing goes wrong. `node` is called whenever one starts.
    #[must_use]
    pub fn new(node: impl Fn(&Host) -> NodeBuilder + Send + Sync + 'static) -> Self {
        Self {
            node: Arc::new(node),
            visits: Vec::new(),
            gather: None,
            storage: None,
            nodes: 3,
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

    /// Who asks the cluster throughout. It never ends by itself; an error is a wrong answer. Called again it adds another, on
    /// a machine of its own.
    #[must_use]
    pub fn visitor<F>(mut self, visit: impl Fn(Visitor) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.visits.push(Arc::new(move |visitor| Box::pin(visit(visitor))));
        self
    }

    /// Gathers evidence: `begin` makes it, empty, for each run; visitors add to it ([`Visitor::evidence`]), and its verdict is
    /// asked for in the end.
    #[must_use]
    pub fn evidence<E: Evidence>(mut self, begin: impl Fn() -> E + Send + Sync + 'static) -> Self {
        self.gather = Some(Arc::new(move || Arc::new(begin())));
        self
    }

    /// Something of the application's own that all nodes share, on a machine of its own: a database. It stands beside the store:
    /// what happens to the links between a node and the whole store happens to that with the storage too. It never crashes.
    #[must_use]
    pub fn storage<F>(mut self, keep: impl Fn(StorageHost) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        self.storage = Some(Arc::new(move |host| Box::pin(keep(host))));
        self
    }

    /// How many nodes, three unless it is said.
    #[must_use]
    pub fn nodes(mut self, nodes: u8) -> Self {
        self.nodes = nodes.max(1);
        self
    }

    /// How many servers the store has, three unless it is said.
    #[must_use]
    pub fn servers(mut self, servers: u8) -> Self {
        self.servers = servers.max(1);
        self
    }

    /// From which all chance follows.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// What goes wrong.
    #[must_use]
    pub fn plan(mut self, plan: Plan) -> Self {
        self.plan = plan;
        self
    }

    /// How long the time is in which things may go wrong. After that all is mended, and the cluster has to come to rest.
    #[must_use]
    pub fn length(mut self, length: Duration) -> Self {
        self.length = length;
        self
    }

    /// The session timeout of every node, four seconds unless it is said.
    #[must_use]
    pub fn session_timeout(mut self, timeout: Duration) -> Self {
        self.session_timeout = timeout;
        self
    }

    /// The time in which the network moves on, 10 ms unless it is said: a shorter one is finer, and slower to run. A word is
    /// on its way for `latency`, more often near the first than the second, and no less than one of these steps.
    #[must_use]
    pub fn network(mut self, resolution: Duration, latency: (Duration, Duration)) -> Self {
        self.resolution = resolution;
        self.latency = latency;
        self
    }

    /// The nodes start one after the other, so far apart; all at once unless it is said.
    #[must_use]
    pub fn start_gap(mut self, gap: Duration) -> Self {
        self.start_gap = gap;
        self
    }

    /// The run is written down as text, from then on.
    #[must_use]
    pub fn traced_from(mut self, from: Duration) -> Self {
        self.traced_from = Some(from);
        self
    }

    /// Whether the run is written down for a report.
    #[must_use]
    pub fn with_history(mut self, keeps_history: bool) -> Self {
        self.keeps_history = keeps_history;
        self
    }

    /// Whether the journal of each node is run through a machine of its own in the end, which has to order the same.
    #[must_use]
    pub fn replayed(mut self, is_replayed: bool) -> Self {
        self.is_replayed = is_replayed;
        self
    }

    /// Runs it to its end, or to the first thing that is not as promised.
    #[must_use]
    pub fn run(&self) -> Run {
        World::new(self).run()
    }
}
