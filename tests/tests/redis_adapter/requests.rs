//! What each request does on a server in good order.

use rolecall_core::Directory::{Coordinators, Workers};
use rolecall_core::store::{
    Answer, DirectoryReply, DirectoryRequest, LeaseReply, LeaseRequest, Notice, Refusal, Reply, Request,
    SettingsRequest, TermRequest,
};
use rolecall_core::{Epoch, Incarnation, Session, Token};

use super::*;

#[tokio::test]
async fn the_lease_goes_to_one_and_each_term_has_a_higher_epoch() -> TestResult {
    let server = settled().await?;
    let (mut a, mut b) = (open(&server.url(), "a", LONG), open(&server.url(), "b", LONG));
    let (session, _) = a.up().await;
    b.up().await;
    assert_eq!(b.peek().await, LeaseReply::Free);

    let first = a.acquired(1, LONG).await;
    assert_eq!(first.incarnation, Incarnation(1 ^ 0xffff), "the first of a life names it");
    let holding = held(b.peek().await);
    assert_eq!((holding.token, holding.owner, &*holding.id, holding.epoch), (Token(1), session, "a", first.epoch));
    assert!(holding.left <= LONG && holding.left > LONG / 2, "{holding:?}");
    let Answer::Done(Reply::Lease(LeaseReply::Held(seen))) = b.acquire(2, LONG).await else { panic!("it is taken") };
    assert_eq!(seen.token, Token(1));

    assert_eq!(a.renew(1, LONG).await, RENEWED);
    assert_eq!(b.renew(2, LONG).await, LOST, "a token that holds nothing prolongs nothing");
    assert_eq!(b.release(2).await, LOST);
    assert_eq!(a.release(1).await, RELEASED);
    assert_eq!(a.renew(1, LONG).await, LOST, "what is missing is not made again");

    let second = b.acquired(3, LONG).await;
    assert!(second.is_newer_than(first), "{second:?} after {first:?}");
    let Reply::Term(record) = a.done(Request::Term(TermRequest::Read)).await else { panic!("a record") };
    assert_eq!((record.fence, &*record.leader, &*record.address), (second, "b", "b.example:80"));
    Ok(())
}

// L-B51
#[tokio::test]
async fn a_time_to_live_of_zero_is_refused_here_and_by_the_script() -> TestResult {
    let server = settled().await?;
    let mut a = open(&server.url(), "a", LONG);
    let (session, _) = a.up().await;
    assert_eq!(a.acquire(1, Duration::ZERO).await, Answer::Refused(Refusal::Denied));
    a.acquired(1, LONG).await;
    assert_eq!(a.renew(1, Duration::from_micros(999)).await, Answer::Refused(Refusal::Denied));
    assert!(held(a.peek().await).left > LONG / 2, "nothing was shortened");

    let renew = include_str!("../../../io/src/store/redis/scripts/renew.lua");
    let eval = server_script(renew, session, 1, &["0000000000000001", "0"]);
    let error = server.command::<redis::Value>(&eval).await.expect_err("it refuses");
    assert!(error.to_string().contains("time to live of 0 ms"), "{error}");
    Ok(())
}

#[tokio::test]
async fn members_live_as_long_as_their_session_and_changes_are_told() -> TestResult {
    let server = RedisServer::start().await?;
    let (mut a, mut b) = (open(&server.url(), "a", LONG), open(&server.url(), "b", LONG));
    let (of_a, _) = a.up().await;
    b.up().await;
    let watching = b.send(Request::Directory(DirectoryRequest::Members { directory: Workers, watch: true }));
    b.answer(watching).await;

    let join = |directory, session, epoch| Request::Directory(DirectoryRequest::Join { directory, session, epoch });
    assert_eq!(a.ask(join(Workers, Session(9), None)).await, Answer::Refused(Refusal::SessionOver));
    a.done(join(Workers, of_a, None)).await;
    assert_eq!(b.notice(watching).await, Notice::Changed);
    assert_eq!(a.ask(join(Workers, of_a, None)).await, Answer::Refused(Refusal::Exists));
    a.done(join(Coordinators, of_a, Some(Epoch(7)))).await;

    let workers = b.members(Workers).await;
    let [member] = &*workers.members else { panic!("one worker: {workers:?}") };
    assert_eq!((&*member.key.id, member.key.session, &*member.address), ("a", of_a, "a.example:80"));
    assert_eq!((member.epoch, member.session_timeout, workers.skipped), (None, Some(LONG), 0));
    let coordinators = b.members(Coordinators).await;
    assert_eq!(coordinators.members[0].epoch, Some(Epoch(7)));
    assert!(coordinators.members[0].created > member.created);

    let verify = Request::Directory(DirectoryRequest::Verify { directory: Coordinators, session: of_a });
    let verified = a.send(verify.clone());
    let there = DirectoryReply::Registered { owner: of_a, epoch: Some(Epoch(7)) };
    assert_eq!(a.answer(verified).await, Answer::Done(Reply::Directory(there)));
    let leave = Request::Directory(DirectoryRequest::Leave { directory: Coordinators, session: of_a });
    a.done(leave.clone()).await;
    assert_eq!(a.notice(verified).await, Notice::Deleted);
    assert_eq!(a.ask(leave).await, Answer::Refused(Refusal::Missing));
    assert_eq!(a.ask(verify).await, Answer::Refused(Refusal::Missing));

    let watching = b.send(Request::Directory(DirectoryRequest::Members { directory: Workers, watch: true }));
    b.answer(watching).await;
    a.store_closed().await;
    assert_eq!(b.notice(watching).await, Notice::Changed);
    assert_eq!(b.members(Workers).await.members, []);
    Ok(())
}

#[tokio::test]
async fn a_release_wakes_those_who_watch() -> TestResult {
    let server = settled().await?;
    let (mut a, mut b) = (open(&server.url(), "a", LONG), open(&server.url(), "b", LONG));
    a.up().await;
    b.up().await;
    a.acquired(1, LONG).await;
    let watching = b.send(Request::Lease(LeaseRequest::Peek { watch: true }));
    b.answer(watching).await;
    a.release(1).await;
    assert_eq!(b.notice(watching).await, Notice::Deleted);

    b.acquired(2, LONG).await;
    let watching = a.send(Request::Lease(LeaseRequest::Peek { watch: true }));
    a.answer(watching).await;
    b.store_closed().await;
    assert_eq!(a.notice(watching).await, Notice::Deleted, "a session that is closed leaves no lease");
    assert_eq!(a.peek().await, LeaseReply::Free);
    Ok(())
}

#[tokio::test]
async fn the_first_settings_count_and_a_queue_is_refused() -> TestResult {
    let server = RedisServer::start().await?;
    let mut a = open(&server.url(), "a", LONG);
    a.up().await;
    let settle = |settings: &str| Request::Settings(SettingsRequest::Settle { settings: settings.into() });
    assert_eq!(a.done(settle("one")).await, Reply::Settings("one".into()));
    assert_eq!(a.done(settle("two")).await, Reply::Settings("one".into()));
    let list = Request::Queue(rolecall_core::store::QueueRequest::List);
    assert_eq!(a.ask(list).await, Answer::Refused(Refusal::OtherFamily));
    Ok(())
}

#[tokio::test]
async fn what_strangers_wrote_is_skipped_or_called_malformed() -> TestResult {
    let server = settled().await?;
    let mut a = open(&server.url(), "a", LONG);
    let (session, _) = a.up().await;
    a.done(Request::Directory(DirectoryRequest::Join { directory: Workers, session, epoch: None })).await;
    let field = format!("{:016x}", session.0);
    let _: u32 = server.command(redis::cmd("HSET").arg(key("workers")).arg(&field).arg("garbage")).await?;
    let _: u32 = server.command(redis::cmd("HSET").arg(key("workers")).arg("nobody").arg("{}")).await?;
    let workers = a.members(Workers).await;
    assert_eq!((workers.members.len(), workers.skipped), (0, 1), "an entry that no living session owns is not listed");

    let read = Request::Term(TermRequest::Read);
    assert_eq!(a.ask(read.clone()).await, Answer::Refused(Refusal::Missing));
    let _: () = server.command(redis::cmd("SET").arg(key("term")).arg("garbage")).await?;
    assert_eq!(a.ask(read.clone()).await, Answer::Refused(Refusal::Malformed));
    a.acquired(1, LONG).await;
    let _: () =
        redis::from_redis_value(server.command(redis::cmd("HSET").arg(key("term")).arg("epoch").arg("x")).await?)?;
    assert_eq!(a.ask(read).await, Answer::Refused(Refusal::Malformed));
    Ok(())
}
