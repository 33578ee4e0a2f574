//! Elections on a real ZooKeeper: hand-overs that wait for no session to end.

use core::convert::Infallible;
use core::future::pending;
use core::time::Duration;

use rolecall::{Election, ElectionBuilder, JoinError, Outcome};
use rolecall_tests::zookeeper::ZooKeeperServer;
use tokio::sync::oneshot::{self, error::TryRecvError};

/// Far longer than anything here takes, and shorter than [`SESSION`].
const LIMIT: Duration = Duration::from_secs(45);
/// The longest that the server grants: a hand-over that waits for it comes too late.
const SESSION: Duration = Duration::from_secs(60);

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.expect("it happens in time")
}

fn member(server: &ZooKeeperServer, id: &str) -> ElectionBuilder {
    Election::builder(server.url(), "billing").id(id).session_timeout(SESSION)
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_or_is_dropped_hands_over_at_once() {
    let server = ZooKeeperServer::start().await.expect("ZooKeeper starts");
    let join = async |id: &str| within(member(&server, id).join()).await.expect("it joins");
    let (a, b, c) = (join("a").await, join("b").await, join("c").await);
    let term = within(a.lead()).await.expect("a leads");
    let first = term.fence();

    let (next, outcome) = tokio::join!(within(b.lead()), async {
        drop(term);
        within(a.leave()).await
    });
    let next = next.expect("b leads");
    assert_eq!(outcome, Outcome::Exited);
    assert!(next.fence().is_newer_than(first));
    let second = next.fence();

    let (began, has_begun) = oneshot::channel();
    let (running, mut gone) = oneshot::channel::<Infallible>();
    let working = tokio::spawn(async move {
        let work = async {
            // Dropped with the work.
            let _running = running;
            began.send(()).expect("the test waits");
            pending::<()>().await;
        };
        next.run(work).await
    });
    has_begun.await.expect("it runs");
    drop(b);

    let last = within(c.lead()).await.expect("c leads");
    assert_eq!(gone.try_recv(), Err(TryRecvError::Closed), "nobody leads before the work under the old term is gone");
    assert_eq!(working.await.expect("it does not panic"), None);
    assert!(last.fence().is_newer_than(second));
    let mut members = c.members();
    within(members.wait_for(|members| members.len() == 1)).await.expect("it lives");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_a_live_member_has_is_refused() {
    let server = ZooKeeperServer::start().await.expect("ZooKeeper starts");
    let session = Duration::from_secs(4);
    let first = within(member(&server, "a").session_timeout(session).join()).await.expect("it joins");

    let second = within(member(&server, "a").session_timeout(session).join()).await;

    assert!(matches!(&second, Err(JoinError::IdTaken { id, .. }) if &**id == "a"), "{second:?}");
    assert!(within(first.lead()).await.is_ok());
}
