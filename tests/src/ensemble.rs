//! A real ensemble of three ZooKeeper servers, any of which can be cut off from the others.

use core::time::Duration;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Child;

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use crate::ports;
use crate::proxy::{Direction, Proxy};
use crate::socks::Socks;
use crate::wait::LIMIT;
use crate::zookeeper::{ServerError, launch};

const SERVERS: usize = 3;
const PORT_TAKEN: &str = "Address already in use";

/// Three servers in processes of their own, on `127.0.0.1`, with a data folder that is removed at the end. Dropping the
/// ensemble kills them.
///
/// Each server makes all its connections to the others through a [`Socks`] of its own, so a cut needs neither
/// privileges nor another network: traffic between two servers is held, and no connection ends. Clients connect
/// straight to a server.
///
/// ```no_run
/// # async fn example() -> Result<(), rolecall_tests::zookeeper::ServerError> {
/// use rolecall_tests::ensemble::{Ensemble, Timing};
///
/// let ensemble = Ensemble::start(Timing::default()).await?;
/// let leader = ensemble.leader().await.expect("it has just been elected");
/// ensemble.cut_off(leader); // its clients are served on, until it notices
/// println!("it answers on {}, the others on {:?}", ensemble.address(leader), ensemble.others(leader));
/// ensemble.heal();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Ensemble {
    members: Vec<Member>,
    folder: TempDir,
}

/// Times that decide how soon the servers notice a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// `tickTime`, by which the end of a session is rounded.
    pub tick: Duration,
    /// `syncLimit`: ticks of silence after which a follower gives up its leader, and a leader its followers.
    pub sync_limit: u32,
}

/// The values of ZooKeeper's documentation and of Debian's configuration.
impl Default for Timing {
    fn default() -> Self {
        Self { tick: Duration::from_secs(2), sync_limit: 5 }
    }
}

#[derive(Debug)]
struct Member {
    ports: Ports,
    process: Child,
    outward: Socks,
}

#[derive(Clone, Copy, Debug)]
struct Ports {
    client: SocketAddr,
    quorum: SocketAddr,
    election: SocketAddr,
}

impl Ensemble {
    /// Starts three empty servers, and waits until one leads and the others follow.
    ///
    /// # Errors
    /// [`ServerError`]; if ZooKeeper is not installed, the message has the command that installs it.
    pub async fn start(timing: Timing) -> Result<Self, ServerError> {
        for _ in 0..5 {
            match Self::start_once(timing).await {
                // Another process took a port after it was found free.
                Err(ServerError::Silent { log, .. }) if log.contains(PORT_TAKEN) => {}
                outcome => return outcome,
            }
        }
        Self::start_once(timing).await
    }

    async fn start_once(timing: Timing) -> Result<Self, ServerError> {
        let all = Ports::choose();
        let mut ensemble = Self { members: Vec::new(), folder: TempDir::new()? };
        for (index, ports) in all.iter().enumerate() {
            let others = all.iter().filter(|other| other.client != ports.client);
            let outward = Socks::start(others.flat_map(|other| [other.quorum, other.election])).await?;
            configure(&ensemble.home(index), index, &all, timing)?;
            let process = ensemble.launch(index, &outward)?;
            ensemble.members.push(Member { ports: *ports, process, outward });
        }
        ensemble.settle().await.map(|()| ensemble)
    }

    /// Address of a server for clients.
    ///
    /// # Panics
    /// If there is no such server. They are numbered 0, 1 and 2.
    #[must_use]
    pub fn address(&self, server: usize) -> SocketAddr {
        self.members[server].ports.client
    }

    /// Addresses of the other servers for clients.
    #[must_use]
    pub fn others(&self, server: usize) -> Vec<SocketAddr> {
        (0..SERVERS).filter(|other| *other != server).map(|other| self.address(other)).collect()
    }

    /// The leading server, if there is one. The others follow it, or try to.
    pub async fn leader(&self) -> Option<usize> {
        for server in 0..SERVERS {
            if self.mode(server).await.as_deref() == Some("leader") {
                return Some(server);
            }
        }
        None
    }

    /// Mode that a server reports: `leader`, `follower`, or nothing while it is neither.
    pub async fn mode(&self, server: usize) -> Option<String> {
        let report = self.report(server).await.ok()?;
        report.lines().find_map(|line| line.strip_prefix("Mode: ")).map(str::to_owned)
    }

    /// Cuts one server off from both others, in both directions: they hear nothing of each other, and no connection
    /// ends.
    pub fn cut_off(&self, server: usize) {
        for link in self.links(server) {
            link.cut();
        }
    }

    /// Holds everything that one server sends to another, and nothing else.
    pub fn cut_one_way(&self, from: usize, to: usize) {
        let (here, there) = (&self.members[from], &self.members[to]);
        here.links_to(there).into_iter().for_each(|link| link.cut_one_way(Direction::ToServer));
        there.links_to(here).into_iter().for_each(|link| link.cut_one_way(Direction::ToClient));
    }

    /// Kills a server. Its data stays.
    pub fn kill(&mut self, server: usize) {
        let process = &mut self.members[server].process;
        // It may have ended by itself.
        drop(process.kill());
        drop(process.wait());
    }

    /// Starts a killed server again, with its data.
    ///
    /// # Errors
    /// If its process can't be started.
    pub fn restart(&mut self, server: usize) -> Result<(), ServerError> {
        self.members[server].process = self.launch(server, &self.members[server].outward)?;
        Ok(())
    }

    /// Store URL of all servers.
    #[must_use]
    pub fn url(&self) -> String {
        let servers: Vec<_> = (0..SERVERS).map(|server| self.address(server).to_string()).collect();
        format!("zookeeper://{}", servers.join(","))
    }

    fn launch(&self, server: usize, outward: &Socks) -> Result<Child, ServerError> {
        let options = [
            "-DsocksProxyHost=127.0.0.1".to_owned(),
            format!("-DsocksProxyPort={}", outward.address().port()),
            // Java connects straight to this machine's own addresses unless the list of exceptions is empty.
            "-DsocksNonProxyHosts=".to_owned(),
        ];
        launch(&self.home(server).join("zoo.cfg"), &self.home(server).join("log"), &options)
    }

    /// Lets all servers hear each other again.
    pub fn heal(&self) {
        for link in (0..SERVERS).flat_map(|server| self.links(server)) {
            link.heal();
        }
    }

    /// The links between a server and the others.
    fn links(&self, server: usize) -> Vec<&Proxy> {
        let here = &self.members[server];
        let others = (0..SERVERS).filter(|other| *other != server).map(|other| &self.members[other]);
        others.flat_map(|other| here.links_to(other).into_iter().chain(other.links_to(here))).collect()
    }

    /// Waits until one server leads and the others follow.
    ///
    /// # Errors
    /// If a server has ended, or that takes too long.
    pub async fn settle(&mut self) -> Result<(), ServerError> {
        let end = Instant::now() + 2 * LIMIT;
        loop {
            let mut modes = Vec::new();
            for server in 0..SERVERS {
                modes.extend(self.mode(server).await);
            }
            modes.sort();
            if modes == ["follower", "follower", "leader"] {
                return Ok(());
            }
            for server in 0..SERVERS {
                let ended = self.members[server].process.try_wait()?.is_some();
                let log = fs::read_to_string(self.home(server).join("log")).unwrap_or_default();
                if ended || log.contains(PORT_TAKEN) || Instant::now() > end {
                    return Err(ServerError::Silent { port: self.address(server).port(), log });
                }
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// A server's report on itself.
    async fn report(&self, server: usize) -> io::Result<String> {
        let ask = async {
            let mut stream = TcpStream::connect(self.address(server)).await?;
            stream.write_all(b"srvr").await?;
            let mut report = String::new();
            stream.read_to_string(&mut report).await.map(|_| report)
        };
        // A server that has just bound its port may never answer the connections that it accepts first.
        timeout(Duration::from_secs(1), ask).await?
    }

    fn home(&self, server: usize) -> PathBuf {
        self.folder.path().join((server + 1).to_string())
    }
}

impl Member {
    fn links_to(&self, other: &Self) -> [&Proxy; 2] {
        [self.outward.to(other.ports.quorum), self.outward.to(other.ports.election)]
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // The process may have ended by itself.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Ports {
    /// Chooses a different port for each purpose of each server.
    fn choose() -> [Self; SERVERS] {
        let mut taken = BTreeSet::new();
        while taken.len() < 3 * SERVERS {
            taken.insert(ports::free());
        }
        let mut addresses = taken.into_iter().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let mut next = || addresses.next().expect("three for each server");
        [(); SERVERS].map(|()| Self { client: next(), quorum: next(), election: next() })
    }
}

fn configure(home: &Path, server: usize, all: &[Ports], timing: Timing) -> io::Result<()> {
    let data = home.join("data");
    fs::create_dir_all(&data)?;
    fs::write(data.join("myid"), (server + 1).to_string())?;
    let mut lines = vec![
        format!("tickTime={}", timing.tick.as_millis()),
        format!("syncLimit={}", timing.sync_limit),
        "initLimit=10".into(),
        format!("dataDir={}", data.display()),
        format!("clientPort={}", all[server].client.port()),
        "clientPortAddress=127.0.0.1".into(),
        "maxClientCnxns=0".into(),
        "admin.enableServer=false".into(),
    ];
    for (index, ports) in all.iter().enumerate() {
        let (quorum, election) = (ports.quorum, ports.election.port());
        lines.push(format!("server.{}={quorum}:{election}", index + 1));
    }
    fs::write(home.join("zoo.cfg"), lines.join("\n"))
}
