//! Three ZooKeeper servers that lose their leader, their quorum, and single links.

use core::fmt;
use core::time::Duration;

use tokio::time::Instant;

use super::{Account, Outcome, World};
use crate::ensemble::{Ensemble, Timing};
use crate::wait::until;

/// Short, so that servers notice within two seconds what they have lost.
const TIMING: Timing = Timing { tick: Duration::from_millis(200), sync_limit: 10 };

/// Faults of an ensemble, and of the nodes on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnsembleFault {
    /// The leading server is killed; it comes back when clients have been served without it.
    LeaderKilled,
    /// A follower and the leader are killed; they come back when the third server has noticed.
    QuorumLost,
    /// The leading server is cut off from both others, in both directions.
    LeaderCutOff,
    /// One follower hears nothing of the leading server, which hears it.
    DeafFollower,
    /// The leading server hears nothing of one follower, which hears it.
    MuteFollower,
    /// The leading node is killed.
    NodeKilled,
    /// The leading node is stopped until another leads.
    NodeStopped,
}

impl EnsembleFault {
    /// All faults.
    pub const ALL: [Self; 7] = [
        Self::LeaderKilled,
        Self::QuorumLost,
        Self::LeaderCutOff,
        Self::DeafFollower,
        Self::MuteFollower,
        Self::NodeKilled,
        Self::NodeStopped,
    ];
}

impl fmt::Display for EnsembleFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::LeaderKilled => "ZooKeeper's leader is killed, and comes back",
            Self::QuorumLost => "ZooKeeper loses its quorum, and gets it back",
            Self::LeaderCutOff => "ZooKeeper's leader is cut off from the others",
            Self::DeafFollower => "a follower hears nothing of ZooKeeper's leader",
            Self::MuteFollower => "ZooKeeper's leader hears nothing of a follower",
            Self::NodeKilled => "the leading node is killed",
            Self::NodeStopped => "the leading node is stopped, and goes on",
        })
    }
}

/// Lets a register live through these faults on a new ensemble, and judges it.
///
/// # Errors
/// If a server does not start, or the history of the clients has no order.
pub async fn over_an_ensemble(faults: &[EnsembleFault]) -> Outcome<Account> {
    let mut ensemble = Ensemble::start(TIMING).await?;
    let mut world = World::start(ensemble.url()).await?;
    for fault in faults {
        inject(*fault, &mut ensemble, &mut world).await?;
        ensemble.settle().await?;
        world.served().await;
    }
    world.end().await
}

async fn inject(fault: EnsembleFault, ensemble: &mut Ensemble, world: &mut World) -> Outcome {
    let leader = until("a leading server", async || ensemble.leader().await).await;
    let follower = (leader + 1) % 3;
    let begin = Instant::now();
    match fault {
        EnsembleFault::LeaderKilled => {
            ensemble.kill(leader);
            world.survives(fault, begin).await;
            ensemble.restart(leader)?;
        }
        EnsembleFault::QuorumLost => {
            ensemble.kill(leader);
            ensemble.kill(follower);
            let last = (leader + 2) % 3;
            until("the last server to serve nobody", async || ensemble.mode(last).await.is_none().then_some(())).await;
            ensemble.restart(leader)?;
            ensemble.restart(follower)?;
            world.survives(fault, begin).await;
        }
        EnsembleFault::LeaderCutOff => {
            ensemble.cut_off(leader);
            until_another_leads(ensemble, leader).await;
            world.survives(fault, begin).await;
            ensemble.heal();
        }
        EnsembleFault::DeafFollower => {
            ensemble.cut_one_way(leader, follower);
            until("the follower to notice", async || ensemble.mode(follower).await.is_none().then_some(())).await;
            world.survives(fault, begin).await;
            ensemble.heal();
        }
        EnsembleFault::MuteFollower => {
            ensemble.cut_one_way(follower, leader);
            until("the leader to drop the follower", async || ensemble.mode(follower).await.is_none().then_some(()))
                .await;
            world.survives(fault, begin).await;
            ensemble.heal();
        }
        EnsembleFault::NodeKilled => world.kill_leader().await,
        EnsembleFault::NodeStopped => world.pause_leader().await,
    }
    Ok(())
}

async fn until_another_leads(ensemble: &Ensemble, but: usize) {
    until("another server to lead", async || {
        for server in (0..3).filter(|server| *server != but) {
            if ensemble.mode(server).await.as_deref() == Some("leader") {
                return Some(());
            }
        }
        None
    })
    .await;
}
