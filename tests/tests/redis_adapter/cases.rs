//! Cases from the field in which other elections by a lease went wrong on Redis, as far as the store can get them right.

use rolecall_core::Directory::Workers;
use rolecall_core::store::{DirectoryRequest, LeaseReply, LeaseRequest, Request};
use rolecall_tests::proxy::Proxy;
use tokio::time::{Instant, sleep};

use super::*;

/// Two nodes on one server.
async fn two(server: &RedisServer) -> (Asker<RedisStore>, Asker<RedisStore>) {
    let (mut a, mut b) = (open(&server.url(), "a", LONG), open(&server.url(), "b", LONG));
    a.up().await;
    b.up().await;
    (a, b)
}

// L-B07, L-B40
#[tokio::test]
async fn a_lease_that_an_operator_deletes_is_lost_although_its_session_is_kept_alive() -> TestResult {
    let server = settled().await?;
    let (mut a, mut b) = two(&server).await;
    let first = a.acquired(1, LONG).await;
    server.command::<()>(&redis::Cmd::del(key("lease"))).await?;
    a.done(Request::Sync).await;
    assert_eq!(a.renew(1, LONG).await, LOST);
    assert_eq!(a.peek().await, LeaseReply::Free, "a renewal does not make it again");
    assert!(b.acquired(2, LONG).await.is_newer_than(first));
    assert_eq!(a.renew(1, LONG).await, LOST);
    Ok(())
}

// L-B20
#[tokio::test]
async fn two_nodes_of_one_id_never_share_a_lease() -> TestResult {
    let server = settled().await?;
    let (mut one, mut other) = (open(&server.url(), "a", LONG), open(&server.url(), "a", LONG));
    let (owner, _) = one.up().await;
    other.up().await;
    one.acquired(1, LONG).await;
    let Answer::Done(Reply::Lease(LeaseReply::Held(holding))) = other.acquire(2, LONG).await else {
        panic!("the same id is not the same holder")
    };
    assert_eq!((holding.token, holding.owner), (Token(1), owner));
    assert_eq!(other.renew(2, LONG).await, LOST);
    assert_eq!(other.release(2).await, LOST);
    assert_eq!(one.renew(1, LONG).await, RENEWED);
    Ok(())
}

// L-B21
#[tokio::test]
async fn a_rival_waits_for_the_time_to_live_of_the_holder_and_not_for_its_own() -> TestResult {
    let server = settled().await?;
    let (mut a, mut b) = two(&server).await;
    a.acquired(1, LONG).await;
    sleep(SHORT / 4).await;
    let Answer::Done(Reply::Lease(LeaseReply::Held(holding))) = b.acquire(2, SHORT / 8).await else {
        panic!("it is held for longer than the rival would hold it")
    };
    assert!(holding.left > LONG / 2, "{holding:?}");
    Ok(())
}

// L-B22, L-B23
#[tokio::test]
async fn a_release_that_comes_late_leaves_the_next_holder_its_lease() -> TestResult {
    let server = settled().await?;
    let (mut a, mut b) = two(&server).await;
    a.acquired(1, SHORT).await;
    acquired_in_time(&mut b, 100, LONG).await;
    let holder = held(b.peek().await);
    assert_eq!(a.release(1).await, LOST);
    assert_eq!(held(b.peek().await).token, holder.token);
    assert_eq!(b.renew(holder.token.0, LONG).await, RENEWED);
    Ok(())
}

// L-B31, L-B32
#[tokio::test]
async fn a_holder_that_slept_through_anothers_term_has_lost_its_own() -> TestResult {
    let server = settled().await?;
    let (mut a, mut b) = two(&server).await;
    let first = a.acquired(1, SHORT).await;
    let second = acquired_in_time(&mut b, 100, SHORT).await;
    let Token(between) = held(b.peek().await).token;
    b.release(between).await;
    assert_eq!(a.renew(1, SHORT).await, LOST, "nobody holds it, and yet it is not the same term");
    let third = a.acquired(2, SHORT).await;
    assert!(second.is_newer_than(first) && third.is_newer_than(second), "{first:?} {second:?} {third:?}");
    Ok(())
}

// L-B45, L-B48
#[tokio::test]
async fn a_notice_that_is_lost_with_its_connection_is_made_up_for_by_reading_again() -> TestResult {
    let server = settled().await?;
    let proxy = Proxy::start(server.address()).await?;
    let mut a = open(&server.url(), "a", LONG);
    let mut b = open(&format!("redis://{}", proxy.address()), "b", LONG);
    let (session, _) = a.up().await;
    b.up().await;
    a.done(Request::Directory(DirectoryRequest::Join { directory: Workers, session, epoch: None })).await;
    a.acquired(1, LONG).await;
    let lease = b.send(Request::Lease(LeaseRequest::Peek { watch: true }));
    b.answer(lease).await;
    let members = b.send(Request::Directory(DirectoryRequest::Members { directory: Workers, watch: true }));
    b.answer(members).await;
    proxy.refuse();
    proxy.reset();
    a.store_closed().await;
    proxy.heal();
    // Whoever connects reads everything again.
    b.up().await;
    assert_eq!(b.peek().await, LeaseReply::Free);
    assert_eq!(b.members(Workers).await.members, []);
    Ok(())
}

// L-B52
#[tokio::test]
async fn no_reading_shows_a_lease_without_an_end() -> TestResult {
    let server = settled().await?;
    let mut a = open(&server.url(), "a", LONG);
    a.up().await;
    let mut fields = redis::cmd("HMGET");
    fields.arg(key("lease")).arg(&["token", "ends"]);
    let mut reader = server.connect().await?;
    let reading = async {
        let (mut taken, end) = (0, Instant::now() + SHORT);
        while taken < 50 && Instant::now() < end {
            let (token, ends): (Option<String>, Option<String>) = fields.query_async(&mut reader).await?;
            assert_eq!(token.is_some(), ends.is_some(), "{token:?} ends {ends:?}");
            taken += u32::from(token.is_some());
        }
        Ok::<_, redis::RedisError>(taken)
    };
    let taking = async {
        for token in 1.. {
            a.acquired(token, LONG).await;
            a.release(token).await;
        }
    };
    let taken = tokio::select! {
        taken = reading => taken?,
        () = taking => panic!("it never ends"),
    };
    assert!(taken > 0, "it was read while it was held");
    Ok(())
}

// L-B53
#[tokio::test]
async fn a_renewal_that_comes_late_neither_takes_a_rivals_lease_nor_prolongs_it() -> TestResult {
    let server = settled().await?;
    let (mut a, mut b) = two(&server).await;
    a.acquired(1, SHORT).await;
    acquired_in_time(&mut b, 100, SHORT).await;
    let before = held(b.peek().await);
    assert_eq!(a.renew(1, LONG).await, LOST);
    let after = held(b.peek().await);
    assert!(after.token == before.token && after.left <= before.left, "{before:?}, then {after:?}");
    // The rival dies without a word, and its lease with it.
    acquired_in_time(&mut a, 200, SHORT).await;
    Ok(())
}
