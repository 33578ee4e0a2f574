//! Faults of the server: restarts, promoted replicas, lost data, and refusals while it cannot serve.

use rolecall::store::StoreEvent;
use rolecall_core::Directory::Workers;
use rolecall_core::store::{DirectoryRequest, LeaseReply};

use super::*;

/// A node that holds the lease.
async fn leader(url: &str, ttl: Duration) -> (Asker<RedisStore>, Fence) {
    let mut a = open(url, "a", LONG);
    a.up().await;
    let fence = a.acquired(1, ttl).await;
    (a, fence)
}

/// Waits until a node has another connection to the server.
async fn back(node: &mut Asker<RedisStore>) {
    node.up().await;
}

/// The store has begun a new life: the holder has lost its lease, and nobody gets it before a lease has passed.
async fn begins_anew(node: &mut Asker<RedisStore>, before: Fence, ttl: Duration) {
    assert_eq!(node.renew(1, ttl).await, LOST);
    let Answer::Done(Reply::Lease(LeaseReply::Closed { .. })) = node.acquire(50, ttl).await else {
        panic!("somebody else may still lead")
    };
    let after = acquired_in_time(node, 100, ttl).await;
    assert_ne!(after.incarnation, before.incarnation);
}

#[tokio::test]
async fn a_restart_with_its_data_keeps_the_sessions_and_begins_a_new_incarnation() -> TestResult {
    let mut server = settled().await?;
    let (mut a, before) = leader(&server.url(), SHORT).await;
    a.release(1).await;
    let ttl = SHORT;
    assert!(a.acquired(2, ttl).await.is_newer_than(before));
    server.restart().await?;
    back(&mut a).await;
    begins_anew(&mut a, before, ttl).await;
    Ok(())
}

// L-B50
#[tokio::test]
async fn a_restart_without_data_ends_the_sessions_and_begins_a_new_incarnation() -> TestResult {
    let mut server = settled().await?;
    let (mut a, before) = leader(&server.url(), SHORT).await;
    server.kill();
    server.wipe()?;
    server.restart().await?;
    a.find("the loss", |event| (*event == StoreEvent::Lost).then_some(())).await;
    back(&mut a).await;
    begins_anew(&mut a, before, SHORT).await;
    Ok(())
}

#[tokio::test]
async fn data_that_is_flushed_ends_the_sessions_and_begins_a_new_incarnation() -> TestResult {
    let server = settled().await?;
    let (mut a, before) = leader(&server.url(), SHORT).await;
    server.command::<()>(&redis::cmd("FLUSHALL")).await?;
    assert_eq!(a.renew(1, SHORT).await, Answer::Refused(Refusal::SessionOver));
    back(&mut a).await;
    begins_anew(&mut a, before, SHORT).await;
    Ok(())
}

// L-B50
#[tokio::test]
async fn a_promoted_replica_without_the_last_writes_lets_nobody_lead_at_once() -> TestResult {
    let server = settled().await?;
    let mut replica = server.replica().await?;
    let (mut a, _) = leader(&server.url(), LONG).await;
    a.release(1).await;
    on_server(&replica, "the term to arrive", redis::Cmd::exists(key("term")), |value| *value == redis::Value::Int(1))
        .await;
    on_server(&replica, "the release to arrive", redis::Cmd::exists(key("lease")), |value| {
        *value == redis::Value::Int(0)
    })
    .await;
    // The replica does not learn of the next holder.
    replica.pause().await;
    a.acquired(2, SHORT).await;
    drop(server);
    replica.resume();
    replica.promote().await?;

    let mut b = open(&replica.url(), "b", LONG);
    b.up().await;
    let LeaseReply::Closed { .. } = b.peek().await else { panic!("it knows of none, and waits") };
    let Answer::Done(Reply::Lease(LeaseReply::Closed { left })) = b.acquire(3, SHORT).await else {
        panic!("the one that it does not know of may still be held")
    };
    assert!(left > SHORT, "the longest lease ever asked for counts: {left:?}");
    Ok(())
}

#[tokio::test]
async fn a_replica_that_attaches_changes_nothing() -> TestResult {
    let server = settled().await?;
    let (mut a, _) = leader(&server.url(), LONG).await;
    let identity = async || {
        let info: String = server.command(redis::cmd("INFO").arg("replication")).await.ok()?;
        info.lines().find_map(|line| line.strip_prefix("master_replid:").map(str::to_owned))
    };
    let before = identity().await;
    let _replica = server.replica().await?;
    assert_ne!(identity().await, before, "the server takes a new replication id");
    assert_eq!(a.renew(1, LONG).await, RENEWED);
    assert_eq!(&*held(a.peek().await).id, "a");
    Ok(())
}

// L-B03, L-B04
#[tokio::test]
async fn a_server_that_stands_still_is_given_up_and_found_again() -> TestResult {
    let server = settled().await?;
    let mut a = open(&server.url(), "a", SHORT);
    let (session, _) = a.up().await;
    server.pause().await;
    assert_eq!(a.ask(Request::Sync).await, Answer::Unknown);
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    server.resume();
    // The session's end is judged by the store's clock, which a standstill moves by a quarter of a lease at most.
    let up =
        a.find("a session", |event| if let StoreEvent::Up { session, .. } = event { Some(*session) } else { None });
    assert_eq!(up.await, session);
    a.done(Request::Directory(DirectoryRequest::Members { directory: Workers, watch: false })).await;
    Ok(())
}

#[tokio::test]
async fn paused_clients_get_no_answer_in_time_and_go_on_after_the_pause() -> TestResult {
    let server = settled().await?;
    let mut a = open(&server.url(), "a", Duration::from_secs(4));
    a.up().await;
    server.command::<()>(redis::cmd("CLIENT").arg("PAUSE").arg(2_500).arg("ALL")).await?;
    assert_eq!(a.ask(Request::Sync).await, Answer::Unknown);
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    back(&mut a).await;
    a.done(Request::Sync).await;
    Ok(())
}

// L-B49
#[tokio::test]
async fn scripts_that_the_server_forgot_are_sent_again() -> TestResult {
    let server = settled().await?;
    let (mut a, _) = leader(&server.url(), LONG).await;
    assert_eq!(a.renew(1, LONG).await, RENEWED);
    server.command::<()>(redis::cmd("SCRIPT").arg("FLUSH")).await?;
    assert_eq!(a.renew(1, LONG).await, RENEWED);
    Ok(())
}

#[tokio::test]
async fn a_server_that_still_loads_its_data_is_waited_for_and_knows_the_session_afterwards() -> TestResult {
    let mut server = settled().await?;
    let (mut a, before) = leader(&server.url(), SHORT).await;
    server.restart_loading().await?;
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    refused_twice(&server, "LOADING").await;
    let participant = Participant::new(CLUSTER, "b", LONG);
    assert_eq!(rolecall::store::redis::check(&redis_url(&server.url()), &participant, LONG).await, None);
    server.finish_loading().await?;
    let StoreEvent::Up { .. } = a.session_event().await else { panic!("the session is in the data") };
    begins_anew(&mut a, before, SHORT).await;
    Ok(())
}

#[tokio::test]
async fn a_primary_that_becomes_a_replica_is_left() -> TestResult {
    let mut server = settled().await?;
    let other = RedisServer::start().await?;
    let (mut a, _) = leader(&server.url(), LONG).await;
    let mut demote = redis::cmd("REPLICAOF");
    demote.arg("127.0.0.1").arg(other.address().port());
    server.command::<()>(&demote).await?;
    assert_eq!(a.renew(1, LONG).await, Answer::Refused(Refusal::Denied), "READONLY");
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    server.promote().await?;
    a.up().await;
    assert_eq!(a.renew(1, LONG).await, LOST, "its data is another's now");
    Ok(())
}

#[tokio::test]
async fn a_password_that_is_changed_or_a_permission_that_is_taken_is_a_refusal() -> TestResult {
    let server = settled().await?;
    let acl = async |rules: &[&str]| {
        let mut command = redis::cmd("ACL");
        command.arg("SETUSER").arg("bob").arg("on").arg(">secret").arg(rules);
        server.command::<()>(&command).await
    };
    acl(&["~*", "&*", "+@all"]).await?;
    let mut a = open(&format!("redis://bob:secret@{}", server.address()), "a", LONG);
    a.up().await;
    acl(&["-evalsha", "-eval"]).await?;
    assert_eq!(a.ask(Request::Sync).await, Answer::Refused(Refusal::Denied), "NOPERM");
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    acl(&["+evalsha", "+eval"]).await?;
    a.up().await;
    a.done(Request::Sync).await;
    Ok(())
}

#[tokio::test]
async fn a_term_that_no_replica_confirms_is_unknown_if_the_url_asks_for_it() -> TestResult {
    let server = settled().await?;
    let url = format!("{}?wait=1", server.url());
    let mut a = open(&url, "a", SHORT);
    a.up().await;
    assert_eq!(a.acquire(1, LONG).await, Answer::Unknown);
    assert_eq!(held(a.peek().await).token, Token(1));
    a.release(1).await;
    let _replica = server.replica().await?;
    // A replica may confirm too late on a busy machine, which leaves it unknown again.
    let mut token = 2;
    while a.acquire(token, LONG).await == Answer::Unknown {
        a.release(token).await;
        token += 1;
    }
    assert_eq!(held(a.peek().await).token, Token(token));
    Ok(())
}

#[tokio::test]
async fn connections_that_the_server_kills_are_replaced_and_the_holder_keeps_its_lease() -> TestResult {
    let server = settled().await?;
    let (mut a, _) = leader(&server.url(), LONG).await;
    let mut kill = redis::cmd("CLIENT");
    server.command::<()>(kill.arg("KILL").arg("TYPE").arg("pubsub")).await?;
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    back(&mut a).await;
    assert_eq!(a.renew(1, LONG).await, RENEWED);
    Ok(())
}
