//! A whole node, put together.

use core::convert::Infallible;
use core::error::Error;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use rolecall_core::{Config, Event, Node};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::driver::{Driver, Outcome, Parts};
use crate::entropy::{Entropy, OsEntropy};
use crate::http::{Front, Server, ServerLimits, Slot};
use crate::journal::Journal;
use crate::metrics::Metrics;
use crate::service::ErasedService;
use crate::status::{Observer, StatusBoard};
use crate::store::{Participant, Store};
use crate::{Clock, Gate, Net, RoleService, SystemClock, Tap, TokioNet};

type OpenStore = Box<dyn FnOnce(Participant) -> Result<Box<dyn Store>, Box<dyn Error + Send + Sync>> + Send>;
type MakeFront = Box<dyn FnOnce(Observer) -> Arc<dyn Front> + Send>;

/// Events that may wait for the driver.
const INBOX: usize = 1024;
/// How long connections may take to end once the node has.
const LINGER: Duration = Duration::from_secs(1);

/// Puts a node together: configuration, application, store, and the address that it listens on.
pub struct NodeBuilder {
    config: Config,
    pub(crate) service: Arc<dyn ErasedService>,
    open_store: OpenStore,
    cluster: String,
    session_timeout: Duration,
    settings: Option<Arc<str>>,
    listen: String,
    advertise: Option<String>,
    limits: ServerLimits,
    front: Option<MakeFront>,
    journal: Option<Journal>,
    tap: Option<Box<dyn Tap>>,
    net: Arc<dyn Net>,
    clock: Arc<dyn Clock>,
    entropy: Box<dyn Entropy>,
}

impl core::fmt::Debug for NodeBuilder {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter
            .debug_struct("NodeBuilder")
            .field("config", &self.config)
            .field("cluster", &self.cluster)
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}

impl NodeBuilder {
    /// A node that serves `service`. `open_store` is called once the node knows its own address.
    pub fn new<E>(
        config: Config,
        service: impl RoleService,
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
            settings: None,
            listen: "127.0.0.1:0".into(),
            advertise: None,
            limits: ServerLimits::default(),
            front: None,
            journal: None,
            tap: None,
            net: Arc::new(TokioNet),
            clock: Arc::new(SystemClock::new()),
            entropy: Box::new(OsEntropy),
        }
    }

    /// The cluster's name, `default` unless it is said.
    #[must_use]
    pub fn cluster(mut self, name: impl Into<String>) -> Self {
        self.cluster = name.into();
        self
    }

    /// The session timeout to ask the store for, ten seconds unless it is said.
    #[must_use]
    pub fn session_timeout(mut self, timeout: Duration) -> Self {
        self.session_timeout = timeout;
        self
    }

    /// What all nodes of the cluster have to have in common, as text. The first node writes it into the store; one that has
    /// another ends with [`Outcome::SettingsDiffer`] before it takes any part.
    #[must_use]
    pub fn settings(mut self, settings: impl Into<Arc<str>>) -> Self {
        self.settings = Some(settings.into());
        self
    }

    /// Where to listen, `host:port`; a free port of the loopback unless it is said.
    #[must_use]
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.listen = address.into();
        self
    }

    /// Where others reach this node, `host:port`; the address listened on unless it is said.
    #[must_use]
    pub fn advertise(mut self, address: impl Into<String>) -> Self {
        self.advertise = Some(address.into());
        self
    }

    /// How much the server takes on.
    #[must_use]
    pub fn limits(mut self, limits: ServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Routes that are answered whatever the role.
    #[must_use]
    pub fn front(mut self, make: impl FnOnce(Observer) -> Arc<dyn Front> + Send + 'static) -> Self {
        self.front = Some(Box::new(make));
        self
    }

    /// Where events and actions are recorded.
    #[must_use]
    pub fn journal(mut self, journal: Journal) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Who is shown every step of the node's machine: for simulations and tests.
    #[must_use]
    pub fn tap(mut self, tap: impl Tap) -> Self {
        self.tap = Some(Box::new(tap));
        self
    }

    /// Another world than the machine's own: a simulated one.
    #[must_use]
    pub fn world(mut self, net: Arc<dyn Net>, clock: Arc<dyn Clock>, entropy: Box<dyn Entropy>) -> Self {
        self.net = net;
        self.clock = clock;
        self.entropy = entropy;
        self
    }

    /// Listens, opens the store and runs.
    ///
    /// # Errors
    /// The address can't be listened on, or the store can't be opened.
    pub async fn start(self) -> Result<RunningNode, StartError> {
        let clock = self.clock;
        let slot = Slot::default();
        let node = Node::new(self.config);
        let (events, inbox) = mpsc::channel(INBOX);
        let gate = Gate::new(Arc::clone(&clock), events.clone());
        let metrics = Arc::new(Metrics::new(Arc::clone(&clock), slot.clone()));
        let board = StatusBoard::new(&node, clock.wall());
        let observer = Observer { status: board.subscribe(), gate: gate.view(), metrics: Arc::clone(&metrics) };
        let front = self.front.map(|make| make(observer.clone()));
        let mut server = Server::bind(&*self.net, Arc::clone(&clock), &self.listen, slot.clone(), front, self.limits)
            .await
            .map_err(|source| StartError::Listen { address: self.listen, source })?;
        let address = self.advertise.unwrap_or_else(|| server.address().to_owned());
        let participant = Participant {
            cluster: self.cluster,
            id: node.config().id.to_string(),
            address: address.clone(),
            session_timeout: self.session_timeout,
        };
        let store = (self.open_store)(participant).map_err(StartError::Store)?;
        let parts = Parts {
            node,
            settings: self.settings,
            clock: Arc::clone(&clock),
            entropy: self.entropy,
            store,
            gate,
            inbox,
            service: self.service,
            slot,
            journal: self.journal,
            tap: self.tap,
            metrics,
            board,
        };
        let listening = server.address().to_owned();
        let gone = server.gone();
        let task = tokio::spawn(run(Driver::new(parts), server, clock));
        Ok(RunningNode { listening, address, observer, events, task, outcome: None, gone })
    }
}

async fn run(driver: Driver, server: Server, clock: Arc<dyn Clock>) -> Outcome {
    let outcome = driver.run().await;
    tokio::select! {
        biased;
        () = server.close() => {}
        () = clock.sleep_until(clock.now() + LINGER) => {}
    }
    outcome
}

/// A node that runs. Dropped, it is gone as after a crash: nothing is cleaned up, and its session ends by its timeout.
#[derive(Debug)]
pub struct RunningNode {
    listening: String,
    address: String,
    observer: Observer,
    events: mpsc::Sender<Event>,
    task: JoinHandle<Outcome>,
    outcome: Option<Outcome>,
    /// Fails at the end of the listener.
    gone: Option<oneshot::Receiver<Infallible>>,
}

impl RunningNode {
    /// Where it listens, `host:port`.
    #[must_use]
    pub fn listening(&self) -> &str {
        &self.listening
    }

    /// Where others reach it, `host:port`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// For looking at it.
    #[must_use]
    pub fn observer(&self) -> &Observer {
        &self.observer
    }

    /// Asks it to end in good order; [`wait`](Self::wait) tells when it has.
    pub async fn shut_down(&self) {
        self.tell(Event::Shutdown).await;
    }

    /// Asks it to give up its term if it leads.
    pub async fn resign(&self) {
        self.tell(Event::Resign).await;
    }

    async fn tell(&self, event: Event) {
        // A node that has ended needs to be told nothing.
        drop(self.events.send(event).await);
    }

    /// Waits for its end. May be dropped and called again.
    ///
    /// # Panics
    /// Where the node's own task has panicked: with what it said.
    pub async fn wait(&mut self) -> Outcome {
        if let Some(outcome) = &self.outcome {
            return outcome.clone();
        }
        let outcome = match (&mut self.task).await {
            Ok(outcome) => outcome,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        self.outcome.insert(outcome).clone()
    }

    /// Ends it as a crash would, without any clean-up. Once this returns its address is free.
    pub async fn crash(mut self) {
        self.task.abort();
        drop((&mut self.task).await);
        if let Some(gone) = self.gone.take() {
            drop(gone.await);
        }
    }
}

impl Drop for RunningNode {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Why a node could not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The address can't be listened on.
    #[error("can't listen at {address}: {source}; accepted is host:port with a port that is free, or 0")]
    Listen {
        /// Which.
        address: String,
        /// What the sockets say.
        source: io::Error,
    },
    /// The store can't be opened.
    #[error("the store can't be opened: {0}")]
    Store(Box<dyn Error + Send + Sync>),
}
