//! Node with its own HTTP server.

use core::error::Error;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use rolecall_core::Config;

use super::{Application, Front, HandlerSlot, Hosts, HttpService, Server, ServerLimits};
use crate::driver::{Outcome, RunOn};
use crate::journal::Journal;
use crate::metrics::Gauge;
use crate::store::{Participant, Registration, Store};
use crate::{Clock, Entropy, Net, NodeBuilder, Observer, RunningNode, StartError, SystemClock, Tap, TokioNet};

type MakeFront = Box<dyn FnOnce(Observer, &str) -> Arc<dyn Front> + Send>;

/// Time that connections get to end after the node has ended.
const LINGER: Duration = Duration::from_secs(1);

/// Builder of a node with an HTTP server: a [`NodeBuilder`] and the settings of the server.
pub struct HttpNodeBuilder {
    node: NodeBuilder,
    slot: HandlerSlot,
    listen: String,
    advertise: Option<String>,
    allowed_hosts: Vec<String>,
    limits: ServerLimits,
    front: Option<MakeFront>,
    net: Arc<dyn Net>,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for HttpNodeBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HttpNodeBuilder")
            .field("node", &self.node)
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}

impl HttpNodeBuilder {
    /// Makes a builder for a node that serves `application`. `open_store` is called once the node knows its own address.
    pub fn new<E>(
        config: Config,
        application: impl Application,
        open_store: impl FnOnce(Participant) -> Result<Box<dyn Store>, E> + Send + 'static,
    ) -> Self
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let slot = HandlerSlot::default();
        let service = HttpService::new(application, slot.clone());
        Self::around(NodeBuilder::new(config, service, open_store), slot)
    }

    /// Makes a builder for a server around `node`. The node's service must answer the requests that come through `slot`: it is
    /// an [`HttpService`], or a service that wraps one.
    #[must_use]
    pub fn around(node: NodeBuilder, slot: HandlerSlot) -> Self {
        Self {
            node,
            slot,
            listen: "127.0.0.1:0".into(),
            advertise: None,
            allowed_hosts: Vec::new(),
            limits: ServerLimits::default(),
            front: None,
            net: Arc::new(TokioNet),
            clock: Arc::new(SystemClock::new()),
        }
    }

    /// Name of the cluster. Default: `default`.
    #[must_use]
    pub fn cluster(mut self, name: impl Into<String>) -> Self {
        self.node = self.node.cluster(name);
        self
    }

    /// Session timeout to ask the store for. Default: 10 s.
    #[must_use]
    pub fn session_timeout(mut self, timeout: Duration) -> Self {
        self.node = self.node.session_timeout(timeout);
        self
    }

    /// Text on which all nodes of the cluster must agree: see [`NodeBuilder::settings`].
    #[must_use]
    pub fn settings(mut self, settings: impl Into<Arc<str>>) -> Self {
        self.node = self.node.settings(settings);
        self
    }

    /// Contents of the node's entries in the directories, beside its id and its address. Default: nothing more.
    #[must_use]
    pub fn registration(mut self, registration: Registration) -> Self {
        self.node = self.node.registration(registration);
        self
    }

    /// Address to listen on, `host:port`. Default: a free port of the loopback interface.
    #[must_use]
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.listen = address.into();
        self
    }

    /// Address at which others reach this node, `host:port`. Default: the address that it listens on.
    #[must_use]
    pub fn advertise(mut self, address: impl Into<String>) -> Self {
        self.advertise = Some(address.into());
        self
    }

    /// Adds a host for which the server answers, beside `localhost` and the addresses that it listens on and advertises: a
    /// name or an address, such as that of a proxy in front of it. See [`Hosts`].
    #[must_use]
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.allowed_hosts.push(host.into());
        self
    }

    /// Limits of the server.
    #[must_use]
    pub fn limits(mut self, limits: ServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Routes that are answered in every role. `make` gets the address at which others reach the node. Default: none.
    #[must_use]
    pub fn front(mut self, make: impl FnOnce(Observer, &str) -> Arc<dyn Front> + Send + 'static) -> Self {
        self.front = Some(Box::new(make));
        self
    }

    /// Journal in which events and actions are recorded. Default: none.
    #[must_use]
    pub fn journal(mut self, journal: Journal) -> Self {
        self.node = self.node.journal(journal);
        self
    }

    /// Judge that sees every step of the node's machine, for simulations and tests. Default: none.
    #[must_use]
    pub fn tap(mut self, tap: impl Tap) -> Self {
        self.node = self.node.tap(tap);
        self
    }

    /// Sockets, clock and entropy of another world, for simulations. Default: those of the machine.
    #[must_use]
    pub fn world(mut self, net: Arc<dyn Net>, clock: Arc<dyn Clock>, entropy: Box<dyn Entropy>) -> Self {
        self.net = net;
        self.clock = Arc::clone(&clock);
        self.node = self.node.world(clock, entropy);
        self
    }

    /// Place where the node is driven. Default: a thread of its own. The server runs where the application does.
    #[must_use]
    pub fn run_on(mut self, place: RunOn) -> Self {
        self.node = self.node.run_on(place);
        self
    }

    /// Listens, opens the store and starts the node. Server and application run on the runtime on which this is called.
    ///
    /// # Errors
    /// If the address cannot be listened on, or the node cannot be started.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn start(self) -> Result<HttpNode, StartError> {
        let listen_error = |source| StartError::Listen { address: self.listen.clone(), source };
        let listener = self.net.bind(&self.listen).await.map_err(listen_error)?;
        let bound = listener.address();
        let told = [&self.listen, &bound].into_iter().chain(&self.advertise).chain(&self.allowed_hosts);
        let hosts = told.fold(Hosts::loopback(), |hosts, host| hosts.with(host));
        let address = self.advertise.unwrap_or(bound);
        let prepared = self.node.address(&address).prepare();
        let front = self.front.map(|make| make(prepared.observer.clone(), &address));
        let (slot, in_flight) = (self.slot.clone(), self.slot.clone());
        prepared.metrics.add(Gauge {
            name: "rolecall_requests_in_flight",
            help: "Requests that the service of the present role is answering",
            value: Box::new(move || u64::try_from(in_flight.in_flight()).unwrap_or(u64::MAX)),
        });
        let server = Server::new(listener, Arc::clone(&self.clock), self.slot, front, hosts, self.limits);
        let node = prepared.start().await?;
        Ok(HttpNode { node, address, server, slot, clock: self.clock })
    }
}

/// Running node with its server. Dropping it has the effect of a crash: nothing is cleaned up, and its session ends by its
/// timeout.
#[derive(Debug)]
pub struct HttpNode {
    node: RunningNode,
    address: String,
    server: Server,
    slot: HandlerSlot,
    clock: Arc<dyn Clock>,
}

impl HttpNode {
    /// Address that the node listens on, `host:port`.
    #[must_use]
    pub fn listening(&self) -> &str {
        self.server.address()
    }

    /// Address at which others reach the node, `host:port`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Observer of the node, usable from anywhere.
    #[must_use]
    pub fn observer(&self) -> &Observer {
        self.node.observer()
    }

    /// Asks the node to end in good order; [`wait`](Self::wait) returns when it has.
    pub async fn shut_down(&self) {
        self.node.shut_down().await;
    }

    /// Asks the node to give up its term, if it leads.
    pub async fn resign(&self) {
        self.node.resign().await;
    }

    /// Waits for the end of the node, and then for at most a second for the end of its connections. The future may be dropped
    /// and `wait` called again.
    ///
    /// # Panics
    /// If the node's driver panicked, with the same message.
    pub async fn wait(&mut self) -> Outcome {
        let outcome = self.node.wait().await;
        self.slot.close();
        let limit = self.clock.sleep_until(self.clock.now() + LINGER);
        tokio::select! {
            biased;
            () = self.server.closed() => {}
            () = limit => self.server.cut_off(),
        }
        outcome
    }

    /// Ends the node as a crash would, without any cleanup. Once this returns, its address is free.
    pub async fn crash(mut self) {
        self.server.cut_off();
        self.node.crash().await;
        self.server.gone().await;
    }
}
