//! Nodes that serve a register, as processes on a store that fails, and the clients that ask them.

use core::time::Duration;
use std::sync::Arc;

use http::StatusCode;
use rolecall::http::{Server, ServerLimits};
use rolecall::{SystemClock, TokioNet};
use rolecall_cli::register::Storage;
use tokio::time::Instant;

use super::{Account, Clients, Outcome, Survived};
use crate::ports;
use crate::process::{Process, RegisterLaunch, Web};
use crate::proxy::{Direction, Proxy};
use crate::wait::until;

/// Session timeout and time to live of the lease.
const LEASE: Duration = Duration::from_secs(2);
/// Time after which a leader gives up a request to the storage: longer than a lease, so that writes of an old leader come late.
const PATIENCE: Duration = Duration::from_secs(8);

/// Three nodes and their clients.
#[derive(Debug)]
pub struct World {
    store: String,
    _server: Server,
    sites: Vec<Site>,
    web: Web,
    clients: Clients,
    account: Account,
}

/// One node, with its own link to the storage.
#[derive(Debug)]
struct Site {
    name: &'static str,
    address: String,
    storage: Proxy,
    node: Process,
}

impl World {
    /// Starts the nodes on the store at `store`, and waits until clients are served.
    ///
    /// # Errors
    /// If a port can't be used.
    pub async fn start(store: String) -> Outcome<Self> {
        let server = Storage::new()
            .serve(&TokioNet, Arc::new(SystemClock::new()), "127.0.0.1:0", ServerLimits::default())
            .await?;
        let mut sites = Vec::new();
        for name in ["a", "b", "c"] {
            let storage = Proxy::start(server.address().parse()?).await?;
            let address = format!("127.0.0.1:{}", ports::free());
            let node = launch(name, &address, &store, &storage);
            sites.push(Site { name, address, storage, node });
        }
        let clients = Clients::start(sites.iter().map(|site| site.address.clone()).collect());
        let (web, account) = (Web::default(), Account::default());
        let world = Self { store, _server: server, sites, web, clients, account };
        world.clients.served().await;
        Ok(world)
    }

    /// Waits until the clients are served, and notes how long that took since `begin`.
    pub async fn survives(&mut self, fault: impl ToString, begin: Instant) {
        self.clients.served().await;
        self.account.faults.push(Survived { fault: fault.to_string(), served: begin.elapsed() });
    }

    /// Waits until the clients are served.
    pub async fn served(&self) {
        self.clients.served().await;
    }

    /// Kills the leading node while its writes are under way, and starts it again.
    pub async fn kill_leader(&mut self) {
        let (place, begin) = (self.leader(None).await, Instant::now());
        self.sites[place].storage.cut_one_way(Direction::ToServer);
        self.sites[place].node.kill();
        self.leader(Some(place)).await;
        self.sites[place].storage.heal();
        self.survives("the leading node is killed", begin).await;
        let Site { name, address, storage, .. } = &self.sites[place];
        self.sites[place].node = launch(name, address, &self.store, storage);
    }

    /// Stops the leading node until another leads, and lets it go on.
    pub async fn pause_leader(&mut self) {
        let (place, begin) = (self.leader(None).await, Instant::now());
        self.sites[place].node.pause().await;
        self.leader(Some(place)).await;
        self.sites[place].node.resume();
        self.survives("the leading node is stopped, and goes on", begin).await;
    }

    /// Ends the clients and judges what they were told.
    ///
    /// # Errors
    /// If the history has no order.
    pub async fn end(mut self) -> Outcome<Account> {
        let told = self.clients.end().await?;
        told.check()?;
        (self.account.asked, self.account.done) = told.operations();
        self.account.terms = told.terms.len();
        Ok(self.account)
    }

    /// Waits until a node other than `but` answers as the leader. Returns its place.
    async fn leader(&self, but: Option<usize>) -> usize {
        let addresses: Vec<_> = self.sites.iter().map(|site| site.address.as_str()).collect();
        until_serves(&self.web, &addresses, but).await
    }
}

/// Waits until the node at one of these addresses, other than the place `but`, serves the register. Returns its place.
pub async fn until_serves(web: &Web, addresses: &[&str], but: Option<usize>) -> usize {
    until("somebody to lead", async || {
        for (place, address) in addresses.iter().enumerate().filter(|(place, _)| Some(*place) != but) {
            if let Some(answer) = web.get(address, "/register").await
                && answer.status == StatusCode::OK
            {
                return Some(place);
            }
        }
        None
    })
    .await
}

fn launch(id: &str, address: &str, store: &str, storage: &Proxy) -> Process {
    let storage = storage.address().to_string();
    Process::register(&RegisterLaunch { id, address, store, storage: &storage, lease: LEASE, patience: PATIENCE })
}
