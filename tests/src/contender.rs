//! A node of this process that contends and does nothing else.

use core::error::Error;
use core::time::Duration;
use std::net::SocketAddr;

use rolecall::store::zookeeper::ZooKeeperStore;
use rolecall::store::{ServerAddress, Store};
use rolecall::{Assignment, NodeBuilder, Observer, RunningNode, Service};
use rolecall_core::Config;

use crate::reign::{Chronicler, Reign};

/// A node on real servers, with a watch on its gate.
#[derive(Debug)]
pub struct Contender {
    node: RunningNode,
    gate: Chronicler,
}

impl Contender {
    /// Starts a node with default settings, so it does not know the servers' tick.
    ///
    /// # Errors
    /// The error of the node's start.
    pub async fn start(id: &str, servers: &[SocketAddr], session: Duration) -> Result<Self, Box<dyn Error>> {
        let servers: Vec<_> =
            servers.iter().map(|server| ServerAddress { host: server.ip().to_string(), port: server.port() }).collect();
        let open = move |participant| {
            let store = ZooKeeperStore::open(&servers, "", &participant)?;
            Ok::<_, Box<dyn Error + Send + Sync>>(Box::new(store) as Box<dyn Store>)
        };
        let node = NodeBuilder::new(Config::new(id), Idle, open).session_timeout(session).start().await?;
        let observer = node.observer().clone();
        let gate = Chronicler::start(move || observer.term().is_some());
        Ok(Self { node, gate })
    }

    /// A view of the node.
    #[must_use]
    pub fn observer(&self) -> &Observer {
        self.node.observer()
    }

    /// True if the gate was open at the last look.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.reign().is_some_and(|reign| reign.lasts)
    }

    /// Leaves in good order. Returns the times at which the gate was seen open.
    pub async fn leave(mut self) -> Option<Reign> {
        self.node.shut_down().await;
        self.node.wait().await;
        self.gate.reign()
    }

    /// Ends as in a crash: the session is left to the servers. Returns the times at which the gate was seen open.
    #[must_use]
    pub fn crash(self) -> Option<Reign> {
        let Self { node, gate } = self;
        drop(node);
        gate.reign()
    }

    /// Times at which the gate was seen open.
    #[must_use]
    pub fn reign(&self) -> Option<Reign> {
        self.gate.reign()
    }
}

/// A service that serves nothing.
struct Idle;

impl Service for Idle {
    type Running = ();

    async fn start(&self, _: Assignment) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }
}
