//! Sentinels: the adapter asks them for the primary, each time that it connects.

use rolecall::store::StoreEvent;
use rolecall_core::store::LeaseReply;
use rolecall_tests::redis::Sentinel;

use super::*;

/// Silence after which the sentinel promotes the replica.
const DOWN_AFTER: Duration = Duration::from_millis(500);

#[tokio::test]
async fn a_node_follows_the_sentinels_to_the_promoted_replica_where_nobody_leads_at_once() -> TestResult {
    let mut primary = settled().await?;
    let replica = primary.replica().await?;
    let sentinel = Sentinel::start("main", &primary, DOWN_AFTER).await?;
    // The first one does not answer, so the second is asked.
    let url = format!("redis+sentinel://127.0.0.1:1,{}/main", sentinel.address());
    let mut a = open(&url, "a", LONG);
    let (session, timeout) = a.up().await;
    a.acquired(1, LONG).await;
    let copied = redis::Cmd::hget(key("lease"), "token");
    on_server(&replica, "the lease to be copied", copied, |value| *value != redis::Value::Nil).await;

    primary.kill();
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    assert_eq!(a.session_event().await, StoreEvent::Up { session, timeout }, "the replica knows the session");
    let LeaseReply::Closed { .. } = a.peek().await else { panic!("a later holder may have been lost") };
    assert_eq!(a.renew(1, LONG).await, LOST);
    Ok(())
}

#[tokio::test]
async fn a_name_that_the_sentinels_do_not_know_is_said_at_once() -> TestResult {
    let primary = RedisServer::start().await?;
    let _replica = primary.replica().await?;
    let sentinel = Sentinel::start("main", &primary, DOWN_AFTER).await?;
    let url = format!("redis+sentinel://{}/mian", sentinel.address());
    let participant = Participant::new(CLUSTER, "a", LONG);
    let refused = rolecall::store::redis::check(&redis_url(&url), &participant, LONG).await;
    let told = refused.expect("nobody is called so");
    assert!(told.contains("knows no primary called `mian`"), "{told}");
    Ok(())
}
