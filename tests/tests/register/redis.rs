//! Nodes on a Redis, as processes: they are killed and stopped, and so is their server, with its data and without.

use core::time::Duration;
use std::sync::Arc;

use http::StatusCode;
use rolecall::http::{Server, ServerLimits};
use rolecall::{SystemClock, TokioNet};
use rolecall_cli::register::{Answer, Storage};
use rolecall_tests::chaos::{Clients, Outcome, until_serves};
use rolecall_tests::ports;
use rolecall_tests::process::{Process, RegisterLaunch, Web};
use rolecall_tests::proxy::{Direction, Proxy};
use rolecall_tests::redis::RedisServer;
use rolecall_tests::wait::until;

use super::PATIENCE;

const LEASE: Duration = Duration::from_secs(2);
/// Leaders that are stopped, at most, until one of them has a write under way.
const ATTEMPTS: usize = 12;

/// One node, with its own link to the storage.
struct Site {
    name: &'static str,
    address: String,
    storage: Proxy,
    node: Process,
}

struct Cluster {
    redis: RedisServer,
    _server: Server,
    storage: Storage,
    sites: Vec<Site>,
    web: Web,
}

impl Cluster {
    async fn start() -> Outcome<Self> {
        let redis = RedisServer::start().await?;
        let storage = Storage::new();
        let clock = Arc::new(SystemClock::new());
        let server = storage.serve(&TokioNet, clock, "127.0.0.1:0", ServerLimits::default()).await?;
        let mut sites = Vec::new();
        for name in ["a", "b", "c"] {
            let proxy = Proxy::start(server.address().parse()?).await?;
            let address = format!("127.0.0.1:{}", ports::free());
            let node = launch(name, &address, &redis, &proxy);
            sites.push(Site { name, address, storage: proxy, node });
        }
        Ok(Self { redis, _server: server, storage, sites, web: Web::default() })
    }

    /// Waits until a node other than `but` answers as the leader. Returns its place.
    async fn leader(&self, but: Option<usize>) -> usize {
        let addresses: Vec<_> = self.sites.iter().map(|site| site.address.as_str()).collect();
        until_serves(&self.web, &addresses, but).await
    }

    /// Waits until a node that led says that another does.
    async fn follows(&self, place: usize) {
        let Site { name, address, .. } = &self.sites[place];
        until(&format!("{name} to follow"), async || {
            (self.web.get(address, "/register").await?.status == StatusCode::CONFLICT).then_some(())
        })
        .await;
    }

    fn start_again(&mut self, place: usize) {
        let Site { name, address, storage, .. } = &self.sites[place];
        self.sites[place].node = launch(name, address, &self.redis, storage);
    }
}

fn launch(id: &str, address: &str, redis: &RedisServer, storage: &Proxy) -> Process {
    let (store, storage) = (redis.url(), storage.address().to_string());
    Process::register(&RegisterLaunch {
        id,
        address,
        store: &store,
        storage: &storage,
        lease: LEASE,
        patience: PATIENCE,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_register_stays_linearizable_while_its_leaders_and_their_redis_are_killed_and_stopped() -> Outcome {
    let mut cluster = Cluster::start().await?;
    cluster.leader(None).await;
    let clients = Clients::start(cluster.sites.iter().map(|site| site.address.clone()).collect());
    clients.served().await;

    // A leader that is stopped for longer than its lease: what waits in its sockets is answered when it goes on.
    let stopped = cluster.leader(None).await;
    cluster.sites[stopped].node.pause().await;
    cluster.leader(Some(stopped)).await;
    clients.served().await;
    cluster.sites[stopped].node.resume();
    cluster.follows(stopped).await;
    clients.served().await;

    // The same with its writes under way: they reach the storage when another leads. Now and then the leader only loads.
    for _ in 0..ATTEMPTS {
        if cluster.storage.late_writes() > 0 {
            break;
        }
        let stopped = cluster.leader(None).await;
        cluster.sites[stopped].storage.cut_one_way(Direction::ToServer);
        until("a request to the storage to wait", async || {
            let answer = clients.write(&cluster.sites[stopped].address, Duration::from_millis(500)).await;
            (answer == Answer::Unknown).then_some(())
        })
        .await;
        cluster.sites[stopped].node.pause().await;
        cluster.leader(Some(stopped)).await;
        clients.served().await;
        cluster.sites[stopped].storage.heal();
        cluster.sites[stopped].node.resume();
        cluster.follows(stopped).await;
        clients.served().await;
    }
    assert!(cluster.storage.late_writes() > 0, "no write came late");

    // A leader that is killed, and starts again.
    let killed = cluster.leader(None).await;
    cluster.sites[killed].node.kill();
    cluster.leader(Some(killed)).await;
    clients.served().await;
    cluster.start_again(killed);
    clients.served().await;

    // The server's clock steps: an hour on, once within a lease, and an hour back.
    for by_us in [3_600_000_000, -3_600_000_000] {
        cluster.redis.step_clock(by_us);
        clients.served().await;
    }

    // The server is stopped for longer than a lease.
    let leader = cluster.leader(None).await;
    cluster.redis.pause().await;
    until("the leader to stop", async || {
        let answer = cluster.web.get(&cluster.sites[leader].address, "/register").await?;
        (answer.status != StatusCode::OK).then_some(())
    })
    .await;
    cluster.redis.resume();
    clients.served().await;

    // The server is killed, and starts again with its log; then once more, without.
    cluster.redis.restart().await?;
    clients.served().await;
    cluster.redis.kill();
    cluster.redis.wipe()?;
    cluster.redis.restart().await?;
    clients.served().await;

    let told = clients.end().await?;
    let (terms, incarnations) = (told.terms.len(), told.incarnations().len());
    assert!(incarnations >= 3, "one for each life of the server: {incarnations}");
    assert!(terms >= 5, "a term for each leader that was lost: {terms}");
    told.check()
}
