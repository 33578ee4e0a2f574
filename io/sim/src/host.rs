//! One node and its surroundings.

use core::convert::Infallible;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall_core::election::Timing;
use rolecall_core::{Config, Time};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::acts::{ActList, Acts};
use super::clock::{SimClock, TrueTime};
use super::freezer::Freezer;
use super::net::SimNet;
use super::notebook::Notebook;
use super::service_faults::{FaultyService, ServiceFaults};
use super::sockets::Sockets;
use super::storage;
use super::store::{LinkFaults, SimStore};
use rolecall::http::{Application, HandlerSlot, HttpNodeBuilder, HttpService, ServerLimits};
use rolecall::store::{Participant, Store};
use rolecall::{Clock, Entropy, Net, NodeBuilder, Observer, Outcome, RunOn, SeededEntropy};

/// The port on which every node listens.
const PORT: u16 = 80;

/// Drain time of every node's service.
pub(super) const DRAIN: Duration = Duration::from_secs(1);

/// A machine of the simulated world on which a node is about to start.
#[derive(Debug)]
pub struct Host {
    config: Config,
    net: Arc<dyn Net>,
    clock: Arc<dyn Clock>,
    acts: Acts,
    seed: u64,
    servers: u8,
    link_faults: LinkFaults,
    service_faults: ServiceFaults,
}

impl Host {
    /// The node's id, which is also the host's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.config.id
    }

    /// A node that serves `service` on this host. The simulation adds its sockets, its clock and its judges; everything
    /// else may be set as usual.
    #[must_use]
    pub fn node(&self, application: impl Application) -> HttpNodeBuilder {
        let (net, clock, link_faults) = (self.net(), self.clock(), self.link_faults.clone());
        let (family, servers, entropy) = (self.config.election.family(), self.servers, self.entropy(1));
        let slot = HandlerSlot::default();
        let service = HttpService::new(application, slot.clone());
        let service = FaultyService { service, clock: self.clock(), service_faults: self.service_faults.clone() };
        let node = NodeBuilder::new(self.config.clone(), service, move |participant: Participant| {
            let store = SimStore::open(family, participant, servers, net, clock, entropy, link_faults);
            Ok::<_, Infallible>(Box::new(store) as Box<dyn Store>)
        });
        HttpNodeBuilder::around(node, slot)
    }

    /// The sockets of this host.
    #[must_use]
    pub fn net(&self) -> Arc<dyn Net> {
        Arc::clone(&self.net)
    }

    /// The clock of this host. Tokio's own timers go on while the host is paused, so a service must not use them.
    #[must_use]
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Address (`host:port`) of the simulation's [`storage`](super::Simulation::storage).
    #[must_use]
    pub fn storage(&self) -> String {
        format!("{}:{}", storage::HOST, storage::PORT)
    }

    /// The record of what a service does, for the simulation to judge.
    #[must_use]
    pub fn acts(&self) -> Acts {
        self.acts.clone()
    }

    /// Random bits for this life of this host. Each `use_` gives different ones.
    #[must_use]
    pub fn entropy(&self, use_: u64) -> Box<dyn Entropy> {
        Box::new(SeededEntropy::new(self.seed ^ use_.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
}

/// Settings and records that all hosts of a simulation share.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub(super) seed: u64,
    pub(super) truth: TrueTime,
    pub(super) session_timeout: Duration,
    pub(super) election: Timing,
    pub(super) servers: u8,
    /// Number of the first host whose node only looks on.
    pub(super) first_observer: usize,
    pub(super) notebook: Notebook,
    pub(super) acts: ActList,
}

/// The controls of one host, from the outside. Clones control the same host.
#[derive(Clone, Debug)]
pub(super) struct Controls {
    pub(super) name: Arc<str>,
    pub(super) number: usize,
    pub(super) clock: SimClock,
    pub(super) freezer: Freezer,
    pub(super) sockets: Sockets,
    pub(super) link_faults: LinkFaults,
    pub(super) service_faults: ServiceFaults,
    common: Common,
    life: Arc<Mutex<Life>>,
}

#[derive(Debug, Default)]
struct Life {
    count: u32,
    observer: Option<Observer>,
    orders: Option<UnboundedSender<Order>>,
    outcome: Option<Outcome>,
    /// Time that the host stays down once the node has ended, if a fault has set it.
    down: Option<Duration>,
}

/// Orders that an operator on the machine itself can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    ShutDown,
    Resign,
}

impl Controls {
    /// True if this host's node only looks on.
    pub(super) fn observes(&self) -> bool {
        self.number >= self.common.first_observer
    }

    pub(super) fn new(number: usize, common: Common) -> Self {
        let name = name(number);
        let mut entropy = SeededEntropy::new(common.seed ^ u64::try_from(number).unwrap_or(0));
        let start = Time::from_millis(1_000_000 + entropy.bits() % 1_000_000);
        let freezer = Freezer::default();
        let clock = SimClock::new(common.truth.clone(), freezer.clone(), start);
        let (link_faults, service_faults, life) = (LinkFaults::default(), ServiceFaults::default(), Arc::default());
        let sockets = Sockets::default();
        Self { name: name.into(), number, clock, freezer, sockets, link_faults, service_faults, common, life }
    }

    pub(super) fn address(&self) -> String {
        format!("{}:{PORT}", self.name)
    }

    /// Runs the node from its start to its end. Its first life begins `first_at`.
    pub(super) async fn run(self, first_at: Duration, node: impl Fn(&Host) -> HttpNodeBuilder) -> turmoil::Result {
        self.freezer.reset();
        self.sockets.reset();
        if self.lock().count == 0 && !first_at.is_zero() {
            tokio::time::sleep(first_at).await;
        }
        let (orders, mut received) = unbounded_channel();
        let host = self.begin(orders);
        let builder = node(&host)
            .world(host.net(), host.clock(), host.entropy(0))
            .run_on(RunOn::CallersRuntime)
            .tap(self.common.notebook.tap(self.number, self.common.truth.clone()))
            .session_timeout(self.common.session_timeout)
            .listen(format!("0.0.0.0:{PORT}"))
            .advertise(self.address())
            .limits(ServerLimits::default().without_date());
        let mut running = builder.start().await?;
        self.lock().observer = Some(running.observer().clone());
        let outcome = loop {
            tokio::select! {
                biased;
                outcome = running.wait() => break outcome,
                Some(order) = self.freezer.run(received.recv()) => match order {
                    Order::ShutDown => running.shut_down().await,
                    Order::Resign => running.resign().await,
                },
            }
        };
        let mut life = self.lock();
        life.observer = None;
        life.outcome = Some(outcome);
        Ok(())
    }

    fn begin(&self, orders: UnboundedSender<Order>) -> Host {
        let count = {
            let mut life = self.lock();
            let count = life.count + 1;
            *life = Life { count, orders: Some(orders), ..Life::default() };
            count
        };
        let mut config = Config::new(Arc::clone(&self.name));
        config.observes = self.observes();
        config.election = self.common.election;
        config.drain = DRAIN;
        let truth = self.common.truth.clone();
        let lives = u64::try_from(self.number).unwrap_or(0) << 32 | u64::from(count);
        Host {
            config,
            net: Arc::new(SimNet {
                truth: truth.clone(),
                freezer: self.freezer.clone(),
                sockets: self.sockets.clone(),
            }),
            clock: Arc::new(self.clock.clone()),
            acts: Acts::new(self.number, count, truth, self.common.acts.clone()),
            seed: SeededEntropy::new(self.common.seed ^ lives.rotate_left(17)).bits(),
            servers: self.common.servers,
            link_faults: self.link_faults.clone(),
            service_faults: self.service_faults.clone(),
        }
    }

    pub(super) fn order(&self, order: Order) {
        if let Some(orders) = &self.lock().orders {
            // A node that has ended takes no orders.
            orders.send(order).ok();
        }
    }

    /// Sets the time that the host stays down once the node has ended.
    pub(super) fn stays_down(&self, down: Duration) {
        self.lock().down = Some(down);
    }

    pub(super) fn down_for(&self) -> Option<Duration> {
        self.lock().down
    }

    /// Notes that the process is gone.
    pub(super) fn gone(&self) {
        let mut life = self.lock();
        (life.observer, life.orders) = (None, None);
    }

    /// The outcome of a node that has ended. Returned once.
    pub(super) fn ended(&self) -> Option<Outcome> {
        self.lock().outcome.take()
    }

    /// A view of the node, while it runs.
    pub(super) fn observer(&self) -> Option<Observer> {
        self.lock().observer.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of a node by its number, counted from 0: a, b, c…, and from the 27th on n26, n27…
#[must_use]
pub fn name(number: usize) -> String {
    match u8::try_from(number) {
        Ok(letter) if letter < 26 => char::from(b'a' + letter).to_string(),
        Ok(_) | Err(_) => format!("n{number}"),
    }
}
