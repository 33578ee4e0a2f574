//! Nodes that lose their ZooKeeper, one after the other, in all ways.

use core::time::Duration;
use std::sync::Arc;

use rolecall::http::{Client, ClientLimits, HttpNode, HttpNodeBuilder, Server, ServerLimits};
use rolecall::store::zookeeper::ZooKeeperStore;
use rolecall::store::{self, Store};
use rolecall::{SystemClock, TokioNet};
use rolecall_cli::register::{Register, Storage};
use rolecall_core::{Config, Fence};
use rolecall_tests::chaos::{Clients, Outcome};
use rolecall_tests::ports;
use rolecall_tests::proxy::{Direction, Proxy};
use rolecall_tests::wait::until;
use rolecall_tests::zookeeper::{ZooKeeperServer, forget_session};

use super::PATIENCE;

const SESSION: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(100);

/// One node, with its own links to ZooKeeper and to the storage.
struct Site {
    name: &'static str,
    address: String,
    zookeeper: Proxy,
    storage: Proxy,
    node: Option<HttpNode>,
}

struct Cluster {
    _zookeeper: ZooKeeperServer,
    _server: Server,
    storage: Storage,
    sites: Vec<Site>,
}

impl Cluster {
    async fn start() -> Outcome<Self> {
        let zookeeper = ZooKeeperServer::start_with_tick(TICK).await?;
        let storage = Storage::new();
        let clock = Arc::new(SystemClock::new());
        let server = storage.serve(&TokioNet, clock, "127.0.0.1:0", ServerLimits::default()).await?;
        let mut sites = Vec::new();
        for name in ["a", "b", "c"] {
            let mut site = Site {
                name,
                address: format!("127.0.0.1:{}", ports::free()),
                zookeeper: Proxy::start(zookeeper.address()).await?,
                storage: Proxy::start(server.address().parse()?).await?,
                node: None,
            };
            site.start().await?;
            sites.push(site);
        }
        Ok(Self { _zookeeper: zookeeper, _server: server, storage, sites })
    }

    /// Waits for a node that leads, and returns it.
    async fn leader(&mut self) -> &mut Site {
        let place = until("somebody to lead", async || self.sites.iter().position(|site| site.term().is_some())).await;
        &mut self.sites[place]
    }
}

impl Site {
    /// Waits until the node leads no more. Returns its name.
    async fn stopped(&self) -> &'static str {
        until("the leader to stop", async || self.term().is_none().then_some(())).await;
        self.name
    }

    async fn start(&mut self) -> Outcome {
        let mut config = Config::new(self.name);
        config.election = rolecall_core::election::Timing::queue(TICK);
        config.drain = Duration::from_secs(1);
        let clock = Arc::new(SystemClock::new());
        let client = Client::new(Arc::new(TokioNet), clock.clone(), ClientLimits::default());
        let register = Register::new(client, clock, self.storage.address().to_string(), PATIENCE);
        let zookeeper = self.zookeeper.address();
        let server = store::ServerAddress { host: zookeeper.ip().to_string(), port: zookeeper.port() };
        let open = move |participant| {
            ZooKeeperStore::open(&[server], "", &participant).map(|store| Box::new(store) as Box<dyn Store>)
        };
        let builder = HttpNodeBuilder::new(config, register, open).session_timeout(SESSION).listen(&self.address);
        self.node = Some(builder.start().await?);
        Ok(())
    }

    /// Fence of the term that this node holds.
    fn term(&self) -> Option<Fence> {
        self.node.as_ref()?.observer().term().map(|(fence, _)| fence)
    }

    async fn crash(&mut self) {
        if let Some(node) = self.node.take() {
            node.crash().await;
        }
    }

    fn heal(&self) {
        self.zookeeper.heal();
        self.storage.heal();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_register_stays_linearizable_while_its_leaders_lose_zookeeper() -> Outcome {
    let mut cluster = Cluster::start().await?;
    cluster.leader().await;
    let clients = Clients::start(cluster.sites.iter().map(|site| site.address.clone()).collect());
    let served = async || clients.served().await;
    served().await;

    // Cut off from ZooKeeper and from the storage: the leader's messages arrive when another leads. Answers still come,
    // so there is always another write to wait.
    let site = cluster.leader().await;
    site.storage.cut_one_way(Direction::ToServer);
    site.zookeeper.cut();
    let cut_off = site.stopped().await;
    cluster.leader().await;
    served().await;
    cluster.sites.iter().filter(|site| site.name == cut_off).for_each(Site::heal);
    until("its late writes", async || (cluster.storage.late_writes() > 0).then_some(())).await;
    served().await;

    // Cut off from ZooKeeper only: the leader could go on, if it did not stop by itself.
    let site = cluster.leader().await;
    site.zookeeper.cut();
    let cut_off = site.stopped().await;
    cluster.leader().await;
    served().await;
    cluster.sites.iter().filter(|site| site.name == cut_off).for_each(Site::heal);

    // A reconnect gets another session, while the old one and its candidate still exist.
    let site = cluster.leader().await;
    let before = site.term();
    site.zookeeper.rewrite_hello(Some(forget_session));
    site.zookeeper.reset();
    until("the term to end", async || (site.term() != before).then_some(())).await;
    site.zookeeper.rewrite_hello(None);
    cluster.leader().await;
    served().await;

    // A crash in the middle of everything, and a restart.
    let site = cluster.leader().await;
    site.crash().await;
    site.start().await?;
    cluster.leader().await;
    served().await;

    // A planned change.
    let site = cluster.leader().await;
    if let Some(node) = &site.node {
        node.resign().await;
    }
    until("the leader to resign", async || site.term().is_none().then_some(())).await;
    cluster.leader().await;
    served().await;

    let history = clients.end().await?;
    assert!(history.terms.len() >= 6, "a term for each leader that was lost: {:?}", history.terms);
    history.check()
}
