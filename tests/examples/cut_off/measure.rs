//! One ensemble, one cut, and all contenders on it.

use core::error::Error;
use core::fmt;
use core::time::Duration;
use std::net::SocketAddr;

use rolecall_core::Role;
use rolecall_tests::contender::Contender;
use rolecall_tests::ensemble::{Ensemble, Timing};
use rolecall_tests::peers::{Entry, PeerContender, Peers, Program};
use rolecall_tests::reign::{self, Reign};
use tokio::time::{Instant, sleep};
use zookeeper_client::Client;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Longer than any step takes.
const LIMIT: Duration = Duration::from_secs(120);

/// The server that is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cut {
    Follower,
    Leader,
}

impl fmt::Display for Cut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Follower => "a follower",
            Self::Leader => "ZooKeeper's leader",
        })
    }
}

/// The kinds of contenders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Rolecall,
    Curator,
    Kazoo,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Rolecall, Self::Curator, Self::Kazoo];

    /// Path of the contender's queue.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Rolecall => "/rolecall/default/election",
            Self::Curator => "/curator",
            Self::Kazoo => "/kazoo",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Rolecall => "Rolecall",
            Self::Curator => "Curator's LeaderLatch",
            Self::Kazoo => "kazoo's Election",
        })
    }
}

/// Times of a change of leaders, in seconds after the cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    pub(crate) stopped: f64,
    pub(crate) started: f64,
}

impl Gap {
    /// Time with two leaders; negative for a time without a leader.
    pub(crate) fn overlap(self) -> f64 {
        self.stopped - self.started
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stopped, started } = self;
        let overlap = self.overlap();
        write!(formatter, "led on for {stopped:.3} s, the next from {started:.3} s, overlap {overlap:+.3} s")
    }
}

/// Measures each kind: one contender leads through the server that is cut off then, and another waits on the other two.
pub(crate) async fn measure(peers: &Peers, cut: Cut, timing: Timing, session: Duration) -> Outcome<Vec<(Kind, Gap)>> {
    let ensemble = Ensemble::start(timing).await?;
    let leader = ensemble.leader().await.ok_or("the ensemble has lost its leader")?;
    let server = match cut {
        Cut::Follower => (leader + 1) % 3,
        Cut::Leader => leader,
    };
    let olds = start(peers, "old", &[ensemble.address(server)], session).await?;
    wait("the first contenders to lead", async || olds.iter().all(|old| old.reign().is_some())).await?;
    let news = start(peers, "new", &ensemble.others(server), session).await?;
    wait_for_the_queues(ensemble.others(server)[0], &news).await?;
    if !olds.iter().all(Entrant::leads) || news.iter().any(|new| new.reign().is_some()) {
        return Err("the leaders changed before anything was cut: this machine is too busy".into());
    }

    let begin = reign::now();
    ensemble.cut_off(server);
    wait("the next contenders to lead", async || news.iter().all(|new| new.reign().is_some())).await?;
    wait("the old leaders to stop", async || !olds.iter().any(Entrant::leads)).await?;

    let gaps = olds.iter().zip(&news).zip(Kind::ALL).map(|((old, new), kind)| {
        let (old, new) = (old.reign().ok_or("it has led")?, new.reign().ok_or("it leads")?);
        let after_the_cut = |moment: Duration| moment.as_secs_f64() - begin.as_secs_f64();
        Ok((kind, Gap { stopped: after_the_cut(old.last), started: after_the_cut(new.first) }))
    });
    gaps.collect()
}

enum Entrant {
    Node(Box<Contender>),
    Peer(PeerContender),
}

impl Entrant {
    fn reign(&self) -> Option<Reign> {
        match self {
            Self::Node(node) => node.reign(),
            Self::Peer(peer) => peer.reign(),
        }
    }

    fn leads(&self) -> bool {
        self.reign().is_some_and(|reign| reign.lasts)
    }

    /// True once the contender takes part in the cluster, as far as it reports that.
    fn is_ready(&self) -> bool {
        match self {
            Self::Node(node) => node.observer().status().role == Role::Worker,
            Self::Peer(_) => true,
        }
    }
}

/// Starts one contender of each kind, in the order of [`Kind::ALL`].
async fn start(peers: &Peers, id: &str, servers: &[SocketAddr], session: Duration) -> Outcome<[Entrant; 3]> {
    let entry = |kind: Kind| Entry { path: kind.path(), id, servers, session };
    Ok([
        Entrant::Node(Box::new(Contender::start(id, servers, session).await?)),
        Entrant::Peer(PeerContender::start(peers, Program::CuratorContender, &entry(Kind::Curator))?),
        Entrant::Peer(PeerContender::start(peers, Program::KazooContender, &entry(Kind::Kazoo))?),
    ])
}

/// Waits until both contenders of each kind stand in their queue.
async fn wait_for_the_queues(server: SocketAddr, news: &[Entrant]) -> Outcome<()> {
    let client = Client::connect(&server.to_string()).await?;
    wait("the others to wait", async || {
        for kind in Kind::ALL {
            if client.list_children(kind.path()).await.unwrap_or_default().len() < 2 {
                return false;
            }
        }
        news.iter().all(Entrant::is_ready)
    })
    .await
}

async fn wait(what: &str, mut condition: impl AsyncFnMut() -> bool) -> Outcome<()> {
    let end = Instant::now() + LIMIT;
    while !condition().await {
        if Instant::now() > end {
            return Err(format!("waited {LIMIT:?} in vain for {what}").into());
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
