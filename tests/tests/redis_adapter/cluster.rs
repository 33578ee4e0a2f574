//! Servers of a Redis Cluster, which keep the keys of a cluster of nodes on one of them.

use rolecall::store::StoreEvent;
use rolecall_core::store::{Answer, Refusal, Request};

use super::*;

const SLOTS: u16 = 16_384;

/// Two servers of one Redis Cluster. The first has the keys.
struct Pair {
    servers: [RedisServer; 2],
    slot: u16,
}

impl Pair {
    async fn start() -> TestResult<Self> {
        let options = ["--cluster-enabled", "yes"];
        let servers = [RedisServer::start_with(&options).await?, RedisServer::start_with(&options).await?];
        let [one, other] = &servers;
        let slot: u16 = one.command(cluster("KEYSLOT").arg(key("store"))).await?;
        let (below, above) = if slot < SLOTS / 2 { (one, other) } else { (other, one) };
        below.command::<()>(cluster("ADDSLOTSRANGE").arg(0).arg(SLOTS / 2 - 1)).await?;
        above.command::<()>(cluster("ADDSLOTSRANGE").arg(SLOTS / 2).arg(SLOTS - 1)).await?;
        one.command::<()>(cluster("MEET").arg("127.0.0.1").arg(other.address().port())).await?;
        for server in &servers {
            until("the cluster to be complete", async || {
                let info: String = server.command(&cluster("INFO")).await.ok()?;
                (info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:2")).then_some(())
            })
            .await;
        }
        Ok(Self { servers, slot })
    }

    /// Moves the keys from the first server to the second, as an operator does.
    async fn move_keys(&self) -> TestResult {
        let [from, to] = &self.servers;
        let (source, target): (String, String) =
            (from.command(&cluster("MYID")).await?, to.command(&cluster("MYID")).await?);
        let set = |state: &str, node: &str| {
            let mut command = cluster("SETSLOT");
            command.arg(self.slot).arg(state).arg(node);
            command
        };
        to.command::<()>(&set("IMPORTING", &source)).await?;
        from.command::<()>(&set("MIGRATING", &target)).await?;
        let keys: Vec<String> = from.command(cluster("GETKEYSINSLOT").arg(self.slot).arg(100)).await?;
        let mut migrate = redis::cmd("MIGRATE");
        migrate.arg("127.0.0.1").arg(to.address().port()).arg("").arg(0).arg(5_000).arg("KEYS").arg(&keys);
        from.command::<()>(&migrate).await?;
        to.command::<()>(&set("NODE", &target)).await?;
        from.command::<()>(&set("NODE", &target)).await?;
        Ok(())
    }
}

fn cluster(command: &str) -> redis::Cmd {
    let mut cluster = redis::cmd("CLUSTER");
    cluster.arg(command);
    cluster
}

#[tokio::test]
async fn a_cluster_that_loses_its_slots_refuses_and_serves_again_once_it_has_them() -> TestResult {
    let server = RedisServer::start_with(&["--cluster-enabled", "yes"]).await?;
    let slots = |change: &str| {
        let mut command = cluster(change);
        command.arg(0).arg(SLOTS - 1);
        command
    };
    let mut a = open(&server.url(), "a", LONG);
    refused_twice(&server, "CLUSTERDOWN").await;
    server.command::<()>(&slots("ADDSLOTSRANGE")).await?;
    let (session, timeout) = a.up().await;

    server.command::<()>(&slots("DELSLOTSRANGE")).await?;
    assert_eq!(a.ask(Request::Sync).await, Answer::Refused(Refusal::Denied), "CLUSTERDOWN");
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    refused_twice(&server, "CLUSTERDOWN").await;
    server.command::<()>(&slots("ADDSLOTSRANGE")).await?;
    assert_eq!(a.session_event().await, StoreEvent::Up { session, timeout });
    a.done(Request::Sync).await;
    Ok(())
}

#[tokio::test]
async fn a_node_goes_to_the_server_that_has_the_keys() -> TestResult {
    let Pair { servers: [owner, other], .. } = Pair::start().await?;
    let mut a = open(&other.url(), "a", LONG);
    a.up().await;
    a.done(Request::Sync).await;
    let sessions: u32 = owner.command(&redis::Cmd::zcard(key("sessions"))).await?;
    assert_eq!(sessions, 1, "MOVED leads there");
    Ok(())
}

#[tokio::test]
async fn keys_that_move_take_the_session_along_and_begin_a_new_incarnation() -> TestResult {
    let pair = Pair::start().await?;
    settle(&pair.servers[0]).await?;
    let mut a = open(&pair.servers[0].url(), "a", LONG);
    let (session, timeout) = a.up().await;
    let before = a.acquired(1, SHORT).await;
    pair.move_keys().await?;
    assert_eq!(a.ask(Request::Sync).await, Answer::Refused(Refusal::Denied), "MOVED");
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    assert_eq!(a.session_event().await, StoreEvent::Up { session, timeout });
    assert_eq!(a.renew(1, SHORT).await, LOST, "another process has the keys now");
    assert_ne!(acquired_in_time(&mut a, 100, SHORT).await.incarnation, before.incarnation);
    Ok(())
}
