//! Time: ends are data, on a clock that does not follow the server's when that steps.

use rolecall_core::store::LeaseReply;
use tokio::time::Instant;

use super::*;

const HOUR_US: i64 = 3_600_000_000;
/// Longer than any test waits.
const LEASE: Duration = Duration::from_secs(600);

#[tokio::test]
async fn a_clock_that_steps_on_by_an_hour_takes_a_quarter_of_the_lease_at_most() -> TestResult {
    let server = settled().await?;
    let (mut a, mut b) = (open(&server.url(), "a", LONG), open(&server.url(), "b", LONG));
    a.up().await;
    b.up().await;
    a.acquired(1, LONG).await;
    server.step_clock(HOUR_US);
    let left = held(b.peek().await).left;
    assert!(left <= LONG * 3 / 4, "the step was seen: {left:?}");
    assert!(left > LONG / 2, "and limited: {left:?}");
    let left = held(b.peek().await).left;
    assert!(left > LONG / 2, "it counts once: {left:?}");
    assert_eq!(a.renew(1, LONG).await, RENEWED);
    Ok(())
}

#[tokio::test]
async fn a_clock_that_steps_back_by_an_hour_keeps_no_lease_longer() -> TestResult {
    let server = settled().await?;
    let (mut a, mut b) = (open(&server.url(), "a", LONG), open(&server.url(), "b", LONG));
    a.up().await;
    b.up().await;
    a.acquired(1, SHORT).await;
    server.step_clock(-HOUR_US);
    let begin = Instant::now();
    acquired_in_time(&mut b, 100, SHORT).await;
    // A native time to live would have kept it for an hour. The call that saw the step counts for nothing.
    assert!(begin.elapsed() < Duration::from_secs(600), "{:?}", begin.elapsed());
    assert_eq!(a.renew(1, SHORT).await, LOST);
    Ok(())
}

#[tokio::test]
async fn a_session_that_is_shorter_than_the_lease_outlasts_a_clock_that_steps_on() -> TestResult {
    let server = settled().await?;
    let mut a = open(&server.url(), "a", LONG);
    a.up().await;
    a.acquired(1, LEASE).await;
    server.step_clock(HOUR_US);
    assert_eq!(a.renew(1, LEASE).await, RENEWED);
    Ok(())
}

#[tokio::test]
async fn members_outlast_a_clock_that_steps_on() -> TestResult {
    let server = settled().await?;
    let mut a = open(&server.url(), "a", LONG);
    let (session, _) = a.up().await;
    let directory = rolecall_core::Directory::Workers;
    let join = rolecall_core::store::DirectoryRequest::Join { directory, session, epoch: None };
    a.done(Request::Directory(join)).await;
    server.step_clock(HOUR_US);
    assert_eq!(a.members(directory).await.members.len(), 1);
    assert_eq!(a.members(directory).await.members.len(), 1);
    Ok(())
}

#[tokio::test]
async fn nobody_leads_on_a_new_server_before_one_lease_has_passed() -> TestResult {
    let server = RedisServer::start().await?;
    let mut a = open(&server.url(), "a", LONG);
    a.up().await;
    let Answer::Done(Reply::Lease(LeaseReply::Closed { left })) = a.acquire(1, LEASE).await else {
        panic!("nobody knows what was on it before")
    };
    assert!(left <= LEASE && left > LEASE / 2, "{left:?}");
    let LeaseReply::Closed { .. } = a.peek().await else { panic!("it stays so") };
    let mut b = open(&server.url(), "b", SHORT);
    b.up().await;
    let Answer::Done(Reply::Lease(LeaseReply::Closed { left })) = b.acquire(2, SHORT).await else {
        panic!("the longest lease asked for counts")
    };
    assert!(left > SHORT, "{left:?}");
    Ok(())
}
