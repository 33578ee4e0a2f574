//! A Redis whose primary dies, with a sentinel that promotes the replica, there and back.

use core::time::Duration;

use tokio::time::Instant;

use super::{Account, Outcome, World};
use crate::redis::{RedisServer, Sentinel};
use crate::wait::until;

/// Silence after which the sentinel promotes the replica.
const DOWN_AFTER: Duration = Duration::from_millis(500);
const NAME: &str = "main";

/// Lets a register live through `failovers` failovers and a death of the leading node after each, and judges it.
///
/// # Errors
/// If a server does not start, or the history of the clients has no order.
pub async fn over_a_failover(failovers: usize) -> Outcome<Account> {
    let mut primary = RedisServer::start().await?;
    let mut replica = primary.replica().await?;
    let sentinel = Sentinel::start(NAME, &primary, DOWN_AFTER).await?;
    let mut world = World::start(format!("redis+sentinel://{}/{NAME}", sentinel.address())).await?;
    for _ in 0..failovers {
        let begin = Instant::now();
        primary.kill();
        until("the replica to be promoted", async || (role(&replica).await? == "master").then_some(())).await;
        world.survives("Redis's primary is killed, and a replica promoted", begin).await;
        primary.restart().await?;
        // Only a replica that has its data can be promoted next.
        until("the old primary to follow the new one", async || {
            (role(&primary).await? == "slave" && is_linked(&primary).await?).then_some(())
        })
        .await;
        world.served().await;
        world.kill_leader().await;
        (primary, replica) = (replica, primary);
    }
    world.end().await
}

async fn role(server: &RedisServer) -> Option<String> {
    field(server, "role").await
}

async fn is_linked(server: &RedisServer) -> Option<bool> {
    Some(field(server, "master_link_status").await? == "up")
}

/// A field of what a server says about its replication.
async fn field(server: &RedisServer, name: &str) -> Option<String> {
    let client = redis::Client::open(server.url()).ok()?;
    let mut connection = client.get_multiplexed_async_connection().await.ok()?;
    let told: String = redis::cmd("INFO").arg("replication").query_async(&mut connection).await.ok()?;
    let lines = told.lines().filter_map(|line| line.split_once(':'));
    lines.filter(|(field, _)| *field == name).map(|(_, value)| value.to_owned()).next()
}
