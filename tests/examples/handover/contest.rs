//! One kind of contenders on the server: hand-overs that are timed, then some whose messages are counted.

use core::fmt;
use core::time::Duration;
use std::net::SocketAddr;

use rolecall_tests::peers::{Peers, Program};
use rolecall_tests::zookeeper::ZooKeeperServer;
use tokio::time::{Instant, sleep};
use zookeeper_client::Client;

use crate::Outcome;
use crate::bare::Bare;
use crate::own::{Follow, Own};
use crate::peer::PeerQueue;
use crate::tap::{Count, Tap};

/// Longer than anything takes but the start of a thousand contenders.
const LIMIT: Duration = Duration::from_secs(300);
/// Silence after which nothing more is expected of a hand-over.
const QUIET: Duration = Duration::from_millis(500);
/// Hand-overs whose messages are counted.
const COUNTED: usize = 5;

/// Kinds of contenders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Bare,
    Rolecall,
    RolecallLeaderOnly,
    Curator,
    Kazoo,
}

impl Kind {
    pub(crate) const ALL: [Self; 5] =
        [Self::Bare, Self::Rolecall, Self::RolecallLeaderOnly, Self::Curator, Self::Kazoo];

    /// True if so many contenders of this kind can be started: each of Rolecall's members reads all others whenever one joins, so
    /// the requests grow with the cube.
    pub(crate) fn bears(self, contenders: usize) -> bool {
        self != Self::Rolecall || contenders <= 100
    }

    /// Path of the queue with this number.
    fn path(self, number: usize) -> String {
        match self {
            Self::Rolecall | Self::RolecallLeaderOnly => format!("/rolecall/{}/election", self.name(number)),
            Self::Bare | Self::Curator | Self::Kazoo => format!("/{self:?}-{number}"),
        }
    }

    /// Name of an election of Rolecall.
    fn name(self, number: usize) -> String {
        format!("handover-{self:?}-{number}").to_lowercase()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bare => "the bare operations",
            Self::Rolecall => "Rolecall's Election",
            Self::RolecallLeaderOnly => "the same, without the list of members",
            Self::Curator => "Curator's LeaderLatch",
            Self::Kazoo => "kazoo's Election",
        })
    }
}

/// Measurements of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// Times from the leader's call until the next one leads.
    pub(crate) times: Vec<Duration>,
    /// Messages from the leader's call until it is back at the end of the queue and all is quiet.
    pub(crate) counts: Vec<Count>,
}

/// Contenders of one kind, of which one leads.
enum Queue {
    Bare(Bare),
    Rolecall(Own),
    Peer(PeerQueue),
}

impl Queue {
    async fn start(peers: &Peers, kind: Kind, server: SocketAddr, contenders: usize, number: usize) -> Outcome<Self> {
        let path = kind.path(number);
        Ok(match kind {
            Kind::Bare => Self::Bare(Bare::start(server, &path, contenders).await?),
            Kind::Rolecall => {
                Self::Rolecall(Own::start(server, &kind.name(number), contenders, Follow::Members).await?)
            }
            Kind::RolecallLeaderOnly => {
                Self::Rolecall(Own::start(server, &kind.name(number), contenders, Follow::LeaderOnly).await?)
            }
            Kind::Curator => {
                Self::Peer(PeerQueue::start(peers, Program::CuratorQueue, server, &path, contenders).await?)
            }
            Kind::Kazoo => Self::Peer(PeerQueue::start(peers, Program::KazooQueue, server, &path, contenders).await?),
        })
    }

    async fn hand_over(&mut self) -> Outcome<Duration> {
        match self {
            Self::Bare(bare) => bare.hand_over().await,
            Self::Rolecall(own) => own.hand_over().await,
            Self::Peer(peer) => peer.hand_over().await,
        }
    }
}

/// Measures one kind. Every queue has a path of its own.
pub(crate) async fn measure(
    peers: &Peers,
    server: &ZooKeeperServer,
    kind: Kind,
    contenders: usize,
    runs: usize,
) -> Outcome<Measured> {
    let observer = server.observer().await;
    let (mut times, mut counts) = (Vec::new(), Vec::new());

    let mut queue = Queue::start(peers, kind, server.address(), contenders, 2 * contenders).await?;
    let path = kind.path(2 * contenders);
    for _ in 0..runs {
        until_full(&observer, &path, contenders).await?;
        times.push(queue.hand_over().await?);
    }
    drop(queue);

    let tap = Tap::start(server.address()).await?;
    let mut queue = Queue::start(peers, kind, tap.address(), contenders, 2 * contenders + 1).await?;
    let path = kind.path(2 * contenders + 1);
    until_full(&observer, &path, contenders).await?;
    for _ in 0..COUNTED {
        let before = until_quiet(&tap).await?;
        queue.hand_over().await?;
        until_full(&observer, &path, contenders).await?;
        let after = until_quiet(&tap).await?;
        counts.push(Count { requests: after.requests - before.requests, notices: after.notices - before.notices });
    }
    Ok(Measured { times, counts })
}

/// Waits until all contenders stand in the queue.
async fn until_full(observer: &Client, path: &str, contenders: usize) -> Outcome<()> {
    let end = Instant::now() + LIMIT;
    loop {
        let standing = observer.list_children(path).await.map_or(0, |names| names.len());
        if standing == contenders {
            return Ok(());
        }
        if Instant::now() > end {
            return Err(format!("{standing} of {contenders} stand in {path} after {LIMIT:?}").into());
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until nothing but pings has passed for a while.
async fn until_quiet(tap: &Tap) -> Outcome<Count> {
    let (mut before, end) = (tap.count(), Instant::now() + LIMIT);
    loop {
        sleep(QUIET).await;
        let now = tap.count();
        if now == before {
            return Ok(now);
        }
        if Instant::now() > end {
            return Err(format!("messages pass for {LIMIT:?}: {now:?}").into());
        }
        before = now;
    }
}
