//! Node: a driver with its store, application and observers.

use core::error::Error;
use core::fmt;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use rolecall_core::{Config, Event, Family, Leader, Member, Node};
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use crate::driver::{Driver, Driving, Orders, Outcome, Parts, RunOn};
use crate::entropy::{Entropy, OsEntropy};
use crate::journal::Journal;
use crate::metrics::Metrics;
use crate::service::ErasedService;
use crate::status::{Observer, StatusBoard};
use crate::store::{Participant, Registration, Store};
use crate::{Clock, Gate, Service, SystemClock, Tap};

type OpenStore = Box<dyn FnOnce(Participant) -> Result<Box<dyn Store>, Box<dyn Error + Send + Sync>> + Send>;

/// Largest number of events that may wait for the driver.
const INBOX: usize = 1024;

/// Builder of a node from its configuration, application and store. The node has no server; an application that wants the
/// server that comes with Rolecall uses [`http::HttpNodeBuilder`](crate::http::HttpNodeBuilder).
pub struct NodeBuilder {
    config: Config,
    service: Arc<dyn ErasedService>,
    open_store: OpenStore,
    cluster: String,
    session_timeout: Duration,
    address: Option<String>,
    registration: Registration,
    journal: Option<Journal>,
    tap: Option<Box<dyn Tap>>,
    clock: Arc<dyn Clock>,
    entropy: Box<dyn Entropy>,
    place: RunOn,
    orders: (Orders, mpsc::UnboundedReceiver<Event>),
    /// True if the service runs where the node is driven.
    is_at_home: bool,
}

impl fmt::Debug for NodeBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("NodeBuilder")
            .field("config", &self.config)
            .field("cluster", &self.cluster)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl NodeBuilder {
    /// Makes a builder for a node that runs `service`. `open_store` is called once, on the thread that drives the node.
    pub fn new<E>(
        config: Config,
        service: impl Service,
        open_store: impl FnOnce(Participant) -> Result<Box<dyn Store>, E> + Send + 'static,
    ) -> Self
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        Self {
            config,
            service: Arc::new(service),
            open_store: Box::new(|participant| open_store(participant).map_err(Into::into)),
            cluster: "default".into(),
            session_timeout: Duration::from_secs(10),
            address: None,
            registration: Registration::default(),
            journal: None,
            tap: None,
            clock: Arc::new(SystemClock::new()),
            entropy: Box::new(OsEntropy),
            place: RunOn::default(),
            orders: Orders::channel(),
            is_at_home: false,
        }
    }

    /// Name of the cluster. Default: `default`.
    #[must_use]
    pub fn cluster(mut self, name: impl Into<String>) -> Self {
        self.cluster = name.into();
        self
    }

    /// Session timeout to ask the store for. Default: 10 s.
    #[must_use]
    pub fn session_timeout(mut self, timeout: Duration) -> Self {
        self.session_timeout = timeout;
        self
    }

    /// Text on which all nodes of the cluster must agree. The first node writes it into the store. A node with another text
    /// is refused with [`Objection::SettingsDiffer`](rolecall_core::Objection::SettingsDiffer) before it takes part; a node to
    /// which the store denies it for ten seconds, with
    /// [`Objection::SettingsDenied`](rolecall_core::Objection::SettingsDenied). Default: none.
    #[must_use]
    pub fn settings(mut self, settings: impl Into<Arc<str>>) -> Self {
        self.config.settings = Some(settings.into());
        self
    }

    /// Address at which others reach the application of this node, `host:port`. Default: none, for an
    /// application that answers nowhere.
    #[must_use]
    pub fn address(mut self, address: impl Into<String>) -> Self {
        self.address = Some(address.into());
        self
    }

    /// Contents of the node's entries in the directories, beside its id and its address. Default: nothing more.
    #[must_use]
    pub fn registration(mut self, registration: Registration) -> Self {
        self.registration = registration;
        self
    }

    /// Journal in which events and actions are recorded. Default: none.
    #[must_use]
    pub fn journal(mut self, journal: Journal) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Judge that sees every step of the node's machine, for simulations and tests. Default: none.
    #[must_use]
    pub fn tap(mut self, tap: impl Tap) -> Self {
        self.tap = Some(Box::new(tap));
        self
    }

    /// Clock and entropy of another world, for simulations. Default: those of the machine.
    #[must_use]
    pub fn world(mut self, clock: Arc<dyn Clock>, entropy: Box<dyn Entropy>) -> Self {
        self.clock = clock;
        self.entropy = entropy;
        self
    }

    /// Place where the node is driven. Default: a thread of its own.
    #[must_use]
    pub fn run_on(mut self, place: RunOn) -> Self {
        self.place = place;
        self
    }

    /// Opens the store and starts the node. The application starts and stops on the runtime on which this is called.
    ///
    /// # Errors
    /// If the store cannot be opened, or the thread cannot be started.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn start(self) -> Result<RunningNode, StartError> {
        self.prepare().start().await
    }

    /// Takes orders from `orders`, and runs its service where it is driven: on no runtime of the caller's.
    pub(crate) fn at_home(mut self, orders: (Orders, mpsc::UnboundedReceiver<Event>)) -> Self {
        self.orders = orders;
        self.is_at_home = true;
        self
    }

    /// Makes everything but the store, so that a server can listen before others learn its address.
    pub(crate) fn prepare(self) -> Prepared {
        let (events, inbox) = mpsc::channel(INBOX);
        let node = Node::new(self.config.clone());
        let gate = Gate::new(Arc::clone(&self.clock), events);
        let metrics = Arc::new(Metrics::new(Arc::clone(&self.clock)));
        let board = StatusBoard::new(&node, self.clock.wall());
        let ended = watch::Sender::new(None);
        let observer = Observer {
            id: Arc::clone(&self.config.id),
            status: board.subscribe(),
            gate: gate.view(),
            metrics: Arc::clone(&metrics),
            ended: ended.subscribe(),
        };
        let members = watch::Sender::new(Arc::default());
        Prepared { builder: self, node, gate, metrics, board, observer, ended, members, inbox }
    }
}

/// Node that can be observed but has not started yet.
pub(crate) struct Prepared {
    pub(crate) builder: NodeBuilder,
    node: Node,
    gate: Gate,
    pub(crate) metrics: Arc<Metrics>,
    board: StatusBoard,
    pub(crate) observer: Observer,
    ended: watch::Sender<Option<Outcome>>,
    members: watch::Sender<Arc<[Member]>>,
    inbox: mpsc::Receiver<Event>,
}

impl Prepared {
    /// Leader, as far as this node can see, now and as it changes.
    pub(crate) fn leader(&self) -> watch::Receiver<Option<Leader>> {
        self.gate.leader()
    }

    /// Everybody who is listed, now and as they come and go.
    pub(crate) fn members(&self) -> watch::Receiver<Arc<[Member]>> {
        self.members.subscribe()
    }

    pub(crate) async fn start(self) -> Result<RunningNode, StartError> {
        let Self { builder, node, gate, metrics, board, observer, ended, members, inbox } = self;
        let participant = Participant {
            cluster: builder.cluster,
            id: node.config().id.to_string(),
            address: builder.address.clone(),
            session_timeout: builder.session_timeout,
            registration: builder.registration,
        };
        let (open_store, service) = (builder.open_store, builder.service);
        let runtime = (!builder.is_at_home).then(Handle::current);
        let (owner, orders) = builder.orders;
        let (clock, entropy) = (builder.clock, builder.entropy);
        let (journal, tap) = (builder.journal, builder.tap);
        let make = move || {
            let store = open_store(participant).map_err(StartError::Store)?;
            let (wanted, found) = (node.config().election.family(), store.family());
            if wanted != found {
                return Err(StartError::Family { wanted, found });
            }
            Ok(Driver::new(Parts {
                node,
                clock,
                entropy,
                store,
                gate,
                inbox,
                orders,
                ended,
                members,
                service,
                runtime: runtime.unwrap_or_else(Handle::current),
                journal,
                tap,
                metrics,
                board,
            }))
        };
        let driving = Driving::start(builder.place, make, StartError::Thread).await?;
        Ok(RunningNode { address: builder.address, observer, orders: owner, driving })
    }
}

/// Running node. Dropping it has the effect of a crash: nothing is cleaned up, and its session ends by its timeout.
#[derive(Debug)]
pub struct RunningNode {
    address: Option<String>,
    observer: Observer,
    orders: Orders,
    driving: Driving,
}

impl RunningNode {
    /// Address at which others reach the application, `host:port`; `None` if it answers nowhere.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }

    /// Observer of the node, usable from anywhere.
    #[must_use]
    pub fn observer(&self) -> &Observer {
        &self.observer
    }

    /// Asks the node to end in good order; [`wait`](Self::wait) returns when it has.
    pub async fn shut_down(&self) {
        self.orders.give(Event::Shutdown);
    }

    /// Asks the node to give up its term, if it leads.
    pub async fn resign(&self) {
        self.orders.give(Event::Resign);
    }

    /// Lets the node go on to its own end, which somebody has asked for, when this is dropped.
    pub(crate) fn detach(&mut self) {
        self.driving.detach();
    }

    /// Waits for the end of the node. The future may be dropped and `wait` called again.
    ///
    /// # Panics
    /// If the node's driver panicked, with the same message.
    pub async fn wait(&mut self) -> Outcome {
        self.driving.wait().await
    }

    /// Ends the node as a crash would, without any cleanup. Nothing of it is left once this returns.
    pub async fn crash(self) {
        self.driving.crash().await;
    }
}

/// Reason why a node could not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen at {address}: {source}; expected host:port with a free port, or port 0")]
    Listen {
        /// The address.
        address: String,
        /// Error from the network.
        source: io::Error,
    },
    /// The store cannot be opened.
    #[error("cannot open the store: {0}")]
    Store(Box<dyn Error + Send + Sync>),
    /// The store elects in another way than the node was configured for.
    #[error(
        "the store elects by a {found}, but the node is configured for an election by a {wanted}; set `Config::election` to \
         what `StoreUrl::timing` says"
    )]
    Family {
        /// Family of the node's configuration.
        wanted: Family,
        /// Family of the store.
        found: Family,
    },
    /// The node's thread, or its runtime, cannot be started.
    #[error("cannot start a thread for the node: {0}")]
    Thread(io::Error),
}
