//! A real ZooKeeper, each node behind a proxy of its own.

use core::time::Duration;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};

use rolecall::store::ServerAddress;
use rolecall::store::zookeeper::ZooKeeperStore;
use rolecall::store::zookeeper::record::directory_name;
use rolecall::store::zookeeper::znode::{candidate_name, candidate_prefix, entry_name};
use rolecall_core::store::Act;
use rolecall_core::{Candidate, Directory, Epoch, MemberKey, Session};
use rolecall_tests::proxy::{Direction, Proxy};
use rolecall_tests::zookeeper::ZooKeeperServer;
use tokio::time::sleep;
use zookeeper_client::{Acls, Client, CreateMode, CreateOptions, Error};

use super::password::end_session;
use super::{Node, Outcome, World, participant};

const PERSISTENT: CreateOptions<'static> = CreateMode::Persistent.with_acls(Acls::anyone_all());
const SEQUENTIAL: CreateOptions<'static> = CreateMode::PersistentSequential.with_acls(Acls::anyone_all());

/// Interval at which a session's end is looked for.
const POLL: Duration = Duration::from_millis(100);

/// Each sequence has a cluster of its own, so that many can share a server.
static CLUSTERS: AtomicU32 = AtomicU32::new(0);

pub(crate) struct ZooKeeper {
    /// The server of a sequence that stops it.
    own: Option<ZooKeeperServer>,
    address: SocketAddr,
    operator: Client,
    cluster: String,
    timeout: Duration,
    proxies: BTreeMap<Node, Proxy>,
    litter: u32,
}

impl ZooKeeper {
    /// A cluster on a server that others use too.
    pub(crate) async fn shared(server: &ZooKeeperServer, timeout: Duration) -> Self {
        let cluster = format!("conformance-{}", CLUSTERS.fetch_add(1, Ordering::Relaxed));
        let operator = server.observer().await;
        Self { own: None, address: server.address(), operator, cluster, timeout, proxies: BTreeMap::new(), litter: 0 }
    }

    /// A cluster on a server of its own.
    pub(crate) async fn alone(timeout: Duration) -> Outcome<Self> {
        let server = ZooKeeperServer::start().await?;
        let world = Self::shared(&server, timeout).await;
        Ok(Self { own: Some(server), ..world })
    }

    fn path(&self, rest: &str) -> String {
        format!("/rolecall/{}/{rest}", self.cluster)
    }

    fn candidate(&self, candidate: Candidate) -> String {
        let name = candidate_name(candidate).unwrap_or_else(|| format!("latch-{:010}", candidate.sequence));
        self.path(&format!("election/{name}"))
    }

    fn entry(&self, directory: Directory, key: &MemberKey) -> String {
        self.path(&format!("services/{}/{}", directory_name(directory), entry_name(&key.id, key.session)))
    }

    /// Creates a znode with its parents, if they do not exist.
    async fn create(&self, path: &str, data: &[u8], options: &CreateOptions<'_>) -> Outcome {
        let (parent, _) = path.rsplit_once('/').expect("a path");
        self.operator.mkdir(parent, &PERSISTENT).await?;
        match self.operator.create(path, data, options).await {
            Ok(_) | Err(Error::NodeExists) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes the present data again.
    async fn rewrite(&self, path: &str) -> Outcome {
        match self.operator.get_data(path).await {
            Ok((data, _)) => _ = self.operator.set_data(path, &data, None).await?,
            Err(Error::NoNode) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    async fn delete(&self, path: &str) -> Outcome {
        match self.operator.delete(path, None).await {
            Ok(()) | Err(Error::NoNode) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn litter(&mut self, directory: &str) -> Outcome {
        self.litter += 1;
        self.create(&self.path(&format!("{directory}/litter-{}", self.litter)), b"", &PERSISTENT).await
    }
}

impl World for ZooKeeper {
    type Store = ZooKeeperStore;

    async fn open(&mut self, node: Node) -> Outcome<ZooKeeperStore> {
        // A new proxy each time: nothing left of a crashed node must get through.
        let proxy = Proxy::start(self.address).await?;
        let server = ServerAddress { host: proxy.address().ip().to_string(), port: proxy.address().port() };
        self.proxies.insert(node, proxy);
        Ok(ZooKeeperStore::open(&[server], "", &participant(&self.cluster, node, self.timeout))?)
    }

    fn cut(&mut self, node: Node) {
        self.proxies[&node].refuse();
        self.proxies[&node].reset();
    }

    fn silence(&mut self, node: Node) {
        self.proxies[&node].cut();
    }

    fn deafen(&mut self, node: Node) {
        self.proxies[&node].cut_one_way(Direction::ToClient);
    }

    async fn outlasts(&mut self, sessions: &[Session]) -> Outcome<bool> {
        sleep(POLL).await;
        for directory in ["election", "services/workers", "services/coordinators"] {
            let directory = self.path(directory);
            let children = match self.operator.list_children(&directory).await {
                Ok(children) => children,
                Err(Error::NoNode) => continue,
                Err(error) => return Err(error.into()),
            };
            for child in children {
                let stat = self.operator.check_stat(&format!("{directory}/{child}")).await?;
                let owner = stat.and_then(|stat| u64::try_from(stat.ephemeral_owner).ok());
                if owner.is_some_and(|owner| sessions.contains(&Session(owner))) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn mend(&mut self, node: Node) {
        self.proxies[&node].heal();
    }

    fn flap(&mut self, node: Node) {
        self.proxies[&node].reset();
    }

    fn crash(&mut self, node: Node, store: ZooKeeperStore) {
        // The network first: the node's client would close the session.
        self.cut(node);
        drop(store);
    }

    async fn expire(&mut self, node: Node, sessions: &[Session], up: bool) -> Outcome {
        // The node's client must not come back between the takeover of the session and its end.
        self.cut(node);
        for session in sessions {
            end_session(self.address, *session).await?;
        }
        if up {
            self.mend(node);
        }
        Ok(())
    }

    async fn operate(&mut self, act: Act) -> Outcome {
        match act {
            Act::AddCandidate { guid, participant, owner: _ } => {
                let prefix = guid.map_or_else(|| "latch-".into(), candidate_prefix);
                self.create(&self.path(&format!("election/{prefix}")), participant.as_bytes(), &SEQUENTIAL).await
            }
            Act::RewriteCandidate(candidate) => self.rewrite(&self.candidate(candidate)).await,
            Act::DeleteCandidate(candidate) => self.delete(&self.candidate(candidate)).await,
            Act::LitterQueue => self.litter("election").await,
            Act::AddMember { directory, key, address, epoch, owner: _ } => {
                let (host, port) = address.rsplit_once(':').expect("host:port");
                let epoch = epoch.map_or_else(|| "null".into(), |Epoch(epoch)| epoch.to_string());
                let data = format!(r#"{{"address":"{host}","port":{port},"rolecallEpoch":{epoch}}}"#);
                self.create(&self.entry(directory, &key), data.as_bytes(), &PERSISTENT).await
            }
            Act::RewriteMember { directory, key } => self.rewrite(&self.entry(directory, &key)).await,
            Act::DeleteMember { directory, key } => self.delete(&self.entry(directory, &key)).await,
            Act::LitterDirectory(directory) => self.litter(&format!("services/{}", directory_name(directory))).await,
            Act::DeleteTerm => self.delete(&self.path("term")).await,
            Act::SpoilTerm => {
                self.operator.set_data(&self.path("term"), b"garbage", None).await?;
                Ok(())
            }
            Act::DeleteSettings => self.delete(&self.path("settings")).await,
            Act::Wish(_) => unreachable!("nodes write the wishes of a sequence"),
            Act::SpoilWish => {
                self.operator.set_data(&self.path("wish"), b"garbage", None).await?;
                Ok(())
            }
            Act::DeleteWish => self.delete(&self.path("wish")).await,
        }
    }

    async fn restart(&mut self, keep_data: bool) -> Outcome {
        let server = self.own.as_mut().expect("a server of its own");
        server.kill();
        if !keep_data {
            server.wipe()?;
        }
        server.restart().await?;
        self.operator = server.observer().await;
        Ok(())
    }
}
