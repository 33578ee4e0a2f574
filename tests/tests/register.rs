//! A register guarded by the epoch, on a real ZooKeeper: nodes that lose it, clients that go on asking, and a history
//! that must have an order.

use core::time::Duration;
use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rolecall::http::{Client, ClientLimits, HttpNode, HttpNodeBuilder, Server, ServerLimits};
use rolecall::store::zookeeper::ZooKeeperStore;
use rolecall::store::{self, Store};
use rolecall::{Entropy, SeededEntropy, SystemClock, TokioNet};
use rolecall_cli::register::{Answer, Call, Caller, Completion, History, Operation, Register, Storage, check};
use rolecall_core::{Config, Epoch, Fence};
use rolecall_tests::ports;
use rolecall_tests::proxy::{Direction, Proxy};
use rolecall_tests::wait::until;
use rolecall_tests::zookeeper::{ZooKeeperServer, forget_session};
use tokio::task::JoinHandle;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const SESSION: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(100);
/// Longer than a session, so that the writes of an isolated leader come late.
const PATIENCE: Duration = Duration::from_secs(8);

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

/// Clients that ask until they are told to stop.
struct Clients {
    history: History,
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<BTreeSet<Epoch>>>,
}

impl Clients {
    fn start(sites: &[Site]) -> Self {
        let (history, stop) = (History::new(), Arc::new(AtomicBool::new(false)));
        let addresses: Vec<_> = sites.iter().map(|site| site.address.clone()).collect();
        let tasks = (0..4).map(|number| {
            let clock = Arc::new(SystemClock::new());
            let client = Client::new(Arc::new(TokioNet), clock.clone(), ClientLimits::default());
            let caller = Caller::new(number, client, clock, history.clone());
            tokio::spawn(ask(caller, u64::from(number), addresses.clone(), Arc::clone(&stop)))
        });
        Self { tasks: tasks.collect(), history, stop }
    }

    /// Number of operations done so far.
    fn done(&self) -> usize {
        self.history
            .operations()
            .iter()
            .filter(|operation| matches!(operation.completion, Completion::Done { .. }))
            .count()
    }

    /// Stops the clients. Returns the epochs of the answers.
    async fn end(self) -> Outcome<BTreeSet<Epoch>> {
        self.stop.store(true, Ordering::Relaxed);
        let mut epochs = BTreeSet::new();
        for task in self.tasks {
            epochs.append(&mut task.await?);
        }
        Ok(epochs)
    }
}

/// Usually asks the node that answered last, sometimes any node, which may believe that it still leads.
async fn ask(caller: Caller, seed: u64, addresses: Vec<String>, stop: Arc<AtomicBool>) -> BTreeSet<Epoch> {
    let mut entropy = SeededEntropy::new(seed);
    let mut epochs = BTreeSet::new();
    let mut place = 0;
    while !stop.load(Ordering::Relaxed) {
        let mut dice = |bound: usize| usize::try_from(entropy.bits() % 1_024).unwrap_or(0) % bound;
        if dice(4) == 0 {
            place = dice(addresses.len());
        }
        let patience = Duration::from_millis([100, 1_000, 6_000][dice(3)]);
        let address = &addresses[place];
        let answer =
            if dice(2) == 0 { caller.write(address, patience).await } else { caller.read(address, patience).await };
        match answer {
            Answer::Done(epoch) => _ = epochs.insert(epoch),
            Answer::Refused | Answer::Unknown => place = (place + 1) % addresses.len(),
        }
        tokio::time::sleep(Duration::from_millis(entropy.bits() % 20)).await;
    }
    epochs
}

#[tokio::test(flavor = "multi_thread")]
async fn a_register_stays_linearizable_while_its_leaders_lose_zookeeper() -> Outcome {
    let mut cluster = Cluster::start().await?;
    cluster.leader().await;
    let clients = Clients::start(&cluster.sites);
    let served = async || {
        let before = clients.done();
        until("the clients to be served", async || (clients.done() > before + 200).then_some(())).await;
    };
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

    let history = clients.history.clone();
    let epochs = clients.end().await?;
    let operations = history.operations();
    let written = |operation: &&Operation| {
        matches!((operation.call, operation.completion), (Call::Write(_), Completion::Done { .. }))
    };
    assert!(operations.iter().filter(written).count() > 200, "{} operations", operations.len());
    assert!(epochs.len() >= 6, "a term for each leader that was lost: {epochs:?}");
    check(&operations, &[])?;
    Ok(())
}
