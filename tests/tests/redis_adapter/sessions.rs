//! Sessions: connections that are lost, sessions that end, and what an earlier connection left on its way.

use rolecall::store::{Store, StoreEvent};
use rolecall_core::Directory::Workers;
use rolecall_core::store::{Answer, DirectoryRequest, LeaseReply, LeaseRequest, Notice, Refusal, Reply, Request};
use rolecall_core::{Incarnation, Token};
use rolecall_tests::proxy::{Direction, Proxy};

use super::*;

fn through(proxy: &Proxy) -> String {
    format!("redis://{}", proxy.address())
}

#[tokio::test]
async fn a_lost_connection_is_replaced_and_the_session_goes_on() -> TestResult {
    let server = RedisServer::start().await?;
    let proxy = Proxy::start(server.address()).await?;
    let mut a = open(&through(&proxy), "a", LONG);
    let (session, timeout) = a.up().await;
    assert_eq!(timeout, LONG);
    a.done(Request::Directory(DirectoryRequest::Join { directory: Workers, session, epoch: None })).await;
    proxy.refuse();
    proxy.reset();
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    assert_eq!(a.ask(Request::Sync).await, Answer::Refused(Refusal::Disconnected));
    proxy.heal();
    assert_eq!(a.session_event().await, StoreEvent::Up { session, timeout });
    assert_eq!(a.members(Workers).await.members.len(), 1, "what it owns is still there");
    Ok(())
}

#[tokio::test]
async fn a_session_that_is_not_kept_alive_ends_with_what_it_owns_and_its_lease() -> TestResult {
    let server = settled().await?;
    let proxy = Proxy::start(server.address()).await?;
    let (mut a, mut b) = (open(&through(&proxy), "a", SHORT), open(&server.url(), "b", SHORT));
    let (first, _) = a.up().await;
    b.up().await;
    a.done(Request::Directory(DirectoryRequest::Join { directory: Workers, session: first, epoch: None })).await;
    a.acquired(1, SHORT).await;
    let watching = b.send(Request::Directory(DirectoryRequest::Members { directory: Workers, watch: true }));
    b.answer(watching).await;

    proxy.cut();
    assert_eq!(b.notice(watching).await, Notice::Changed);
    assert_eq!(b.members(Workers).await.members, []);
    acquired_in_time(&mut b, 100, SHORT).await;
    assert_eq!(a.session_event().await, StoreEvent::Suspended, "silence ends a connection");
    proxy.heal();
    assert_eq!(a.session_event().await, StoreEvent::Lost);
    let (second, _) = a.up().await;
    assert_ne!(first, second);
    assert_eq!(a.renew(1, SHORT).await, LOST);
    assert_eq!(&*held(a.peek().await).id, "b");
    Ok(())
}

#[tokio::test]
async fn what_an_earlier_connection_sent_does_nothing_once_a_later_one_was_heard() -> TestResult {
    let server = settled().await?;
    let proxy = Proxy::start(server.address()).await?;
    let mut a = open(&through(&proxy), "a", LONG);
    let (session, _) = a.up().await;
    proxy.reset();
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    a.up().await;

    // As it would arrive if the network had held it up: the same session, and the number of its first connection.
    let acquire = |link: u32| {
        let arguments = ["0000000000000007", "60000", "0000000000000001", "a", "a.example:80"];
        server_script(include_str!("../../../io/src/store/redis/scripts/acquire.lua"), session, link, &arguments)
    };
    let late: Vec<String> = server.command(&acquire(1)).await?;
    assert_eq!(late, ["superseded"]);
    assert_eq!(a.peek().await, LeaseReply::Free, "the acquire came too late");
    let newest: Vec<String> = server.command(&acquire(2)).await?;
    assert_eq!(newest[0], "done", "with the number of the newest one it would have been done");
    Ok(())
}

// L-B35
#[tokio::test]
async fn a_lost_answer_leaves_it_unknown_and_the_lease_is_there() -> TestResult {
    let server = settled().await?;
    let proxy = Proxy::start(server.address()).await?;
    let mut a = open(&through(&proxy), "a", LONG);
    let (session, _) = a.up().await;
    // The server knows the script from now on, so one message is enough.
    a.acquired(1, LONG).await;
    a.release(1).await;
    proxy.cut_one_way(Direction::ToClient);
    let acquire = LeaseRequest::Acquire { token: Token(7), ttl: LONG, incarnation: Incarnation(1) };
    let asked = a.send(Request::Lease(acquire));
    on_server(&server, "the lease to be taken", redis::Cmd::hget(key("lease"), "token"), |value| {
        *value == redis::Value::BulkString(b"0000000000000007".to_vec())
    })
    .await;
    proxy.heal();
    proxy.reset();
    // The reset may come before or after the answer.
    let answer = a.answer(asked).await;
    assert!(matches!(answer, Answer::Unknown | Answer::Done(Reply::Lease(LeaseReply::Acquired(_)))), "{answer:?}");
    assert_eq!(a.up().await.0, session);
    let holding = held(a.peek().await);
    assert_eq!((holding.token, holding.owner), (Token(7), session), "its own token tells whose it is");
    Ok(())
}

#[tokio::test]
async fn a_session_that_is_dropped_for_another_leaves_its_entries_until_it_ends() -> TestResult {
    let server = RedisServer::start().await?;
    let mut a = open(&server.url(), "a", SHORT);
    let (first, _) = a.up().await;
    a.done(Request::Directory(DirectoryRequest::Join { directory: Workers, session: first, epoch: None })).await;
    a.store.renew();
    assert_eq!(a.session_event().await, StoreEvent::Lost);
    let (second, _) = a.up().await;
    assert_ne!(first, second);
    assert_eq!(a.members(Workers).await.members.len(), 1);
    on_server(&server, "the old session to end", redis::Cmd::hlen(key("workers")), |left| {
        *left == redis::Value::Int(0)
    })
    .await;
    Ok(())
}

#[tokio::test]
async fn a_closed_session_is_gone_at_once_and_the_store_says_no_more() -> TestResult {
    let server = RedisServer::start().await?;
    let (mut a, mut b) = (open(&server.url(), "a", LONG), open(&server.url(), "b", LONG));
    let (session, _) = a.up().await;
    b.up().await;
    a.done(Request::Directory(DirectoryRequest::Join { directory: Workers, session, epoch: None })).await;
    a.store_closed().await;
    assert_eq!(b.members(Workers).await.members, []);
    Ok(())
}
