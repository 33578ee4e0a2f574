//! Elections on the embedded store, as programs use them.

use core::future::pending;
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rolecall::store::MemoryStore;
use rolecall::{Election, ElectionBuilder, Family, JoinError, LeadError, Leader, Outcome};

/// Longer than anything here takes on a loaded machine, and shorter than [`LONG`].
const LIMIT: Duration = Duration::from_secs(60);
/// A session that would end too late for what is waited for.
const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_secs(2);

fn member(name: &str, id: &str) -> ElectionBuilder {
    Election::builder("memory:", name).id(id).session_timeout(LONG)
}

async fn join(name: &str, id: &str) -> Election {
    within(member(name, id).join()).await.expect("the store is in this process")
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.expect("it happens in time")
}

/// Counts what runs at this moment.
struct Running<'a>(&'a AtomicUsize);

impl<'a> Running<'a> {
    fn alone(count: &'a AtomicUsize) -> Self {
        assert_eq!(count.fetch_add(1, Ordering::SeqCst), 0, "two run at once");
        Self(count)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_member_alone_leads_whenever_it_wants_to() {
    let election = join("alone", "a").await;
    let mut fences = Vec::new();
    for _ in 0..3 {
        let term = within(election.lead()).await.expect("it leads");
        assert!(election.is_leader());
        assert_eq!(term.check(), Ok(term.fence()));
        assert!(!term.time_left().is_zero());
        let done = term.run(async { term.check().is_ok() }).await;
        assert_eq!(done, Some(true));
        assert!(term.check().is_err(), "it is given back");
        within(term.ended()).await;
        fences.push(term.fence());
    }
    assert!(fences.windows(2).all(|pair| pair[1].is_newer_than(pair[0])), "{fences:?}");
    assert_eq!(within(election.leave()).await, Outcome::Exited);
}

#[tokio::test]
async fn members_see_each_other_and_the_leader() {
    let zone = [("zone", "north")].into_iter().collect();
    let a = member("seen", "a").address("a.example:80").metadata(zone).join().await.expect("it joins");
    let b = join("seen", "b").await;
    let looks_on = member("seen", "c").observer().join().await.expect("it joins");
    assert_eq!(looks_on.lead().await.expect_err("it never leads"), LeadError::Observer);
    let term = within(a.lead()).await.expect("a leads");
    for member in [&a, &b, &looks_on] {
        let mut leader = member.leader();
        let leads = |leader: &Option<Leader>| matches!(leader, Some(Leader::Node { id, epoch, .. }) if &**id == "a" && *epoch == term.fence().epoch);
        within(leader.wait_for(leads)).await.expect("it lives");
    }
    let all = |members: &Arc<[rolecall::Member]>| {
        let seen: Vec<_> = members.iter().map(|member| (&*member.key.id, member.epoch)).collect();
        seen == [("a", Some(term.fence().epoch)), ("b", None)]
    };
    for member in [&a, &b, &looks_on] {
        let mut members = member.members();
        let members = within(members.wait_for(all)).await.expect("it lives");
        assert_eq!((&*members[0].address, members[0].metadata.get("zone")), ("a.example:80", Some("north")));
        assert_eq!((&*members[1].address, members[1].metadata.is_empty()), ("", true));
    }
    assert!(a.is_leader() && !b.is_leader());
}

#[tokio::test]
async fn a_leader_that_leaves_hands_over_at_once_and_its_work_is_gone_by_then() {
    let count = Arc::new(AtomicUsize::new(0));
    let (a, b) = (member("left", "a").drain(SHORT).join().await.expect("it joins"), join("left", "b").await);
    let term = within(a.lead()).await.expect("a leads");
    let (began, has_begun) = tokio::sync::oneshot::channel();
    let working = tokio::spawn({
        let count = Arc::clone(&count);
        async move {
            let work = async {
                let _alone = Running::alone(&count);
                began.send(()).expect("the test waits");
                pending::<()>().await;
            };
            term.run(work).await
        }
    });
    has_begun.await.expect("it runs");

    let (next, outcome) = tokio::join!(within(b.lead()), within(a.leave()));

    let _alone = Running::alone(&count);
    assert!(next.expect("b leads").check().is_ok());
    assert_eq!(outcome, Outcome::Exited);
    assert_eq!(within(working).await.expect("it does not panic"), None, "it was dropped");
}

#[tokio::test]
async fn a_leader_that_is_told_to_stop_may_end_its_work_and_the_next_waits_for_it() {
    let count = AtomicUsize::new(0);
    let (a, b) = (member("told", "a").drain(LIMIT).join().await.expect("it joins"), join("told", "b").await);
    let term = within(a.lead()).await.expect("a leads");
    let work = async {
        let _alone = Running::alone(&count);
        a.resign();
        within(term.stopping()).await;
        tokio::task::yield_now().await;
        term.check().is_ok()
    };

    let (done, next) = tokio::join!(term.run(work), async {
        let next = within(b.lead()).await.expect("b leads");
        drop(Running::alone(&count));
        next
    });

    assert_eq!(done, Some(true), "the term lasts for as long as its work may go on");
    assert!(next.check().is_ok());
}

#[tokio::test]
async fn a_dropped_election_is_left_in_good_order() {
    let (a, b) = (join("dropped", "a").await, join("dropped", "b").await);
    let term = within(a.lead()).await.expect("a leads");
    let kept = term.fence();

    drop(a);
    drop(term);

    let next = within(b.lead()).await.expect("b leads long before the session of a would end");
    assert!(next.fence().is_newer_than(kept));
    let mut members = b.members();
    within(members.wait_for(|members| members.iter().all(|member| &*member.key.id == "b"))).await.expect("it lives");
}

#[tokio::test]
async fn work_is_dropped_when_its_term_ends() {
    let a = member("ended", "a").session_timeout(SHORT).join().await.expect("it joins");
    let term = within(a.lead()).await.expect("a leads");
    let count = AtomicUsize::new(0);

    let work = async {
        let _alone = Running::alone(&count);
        MemoryStore::embedded("ended", Family::Queue).suspend("a");
        pending::<()>().await;
    };
    assert_eq!(within(term.run(work)).await, None);

    assert_eq!(count.load(Ordering::SeqCst), 0);
    assert!(term.check().is_err() && !a.is_leader());
    MemoryStore::embedded("ended", Family::Queue).resume("a");
    let again = within(a.lead()).await.expect("a leads again");
    assert!(again.fence().is_newer_than(term.fence()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_never_run_at_once() {
    const RUNS: usize = 40;
    let (count, runs) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut members = Vec::new();
    for id in ["a", "b", "c"] {
        let election = member("many", id).session_timeout(SHORT).join().await.expect("it joins");
        let (count, runs) = (Arc::clone(&count), Arc::clone(&runs));
        members.push(tokio::spawn(async move {
            while runs.load(Ordering::SeqCst) < RUNS {
                let term = election.lead().await.expect("the membership lasts");
                let store = MemoryStore::embedded("many", Family::Queue);
                let work = async {
                    let _alone = Running::alone(&count);
                    // Now and then a leader loses its store in the middle of its work.
                    if runs.fetch_add(1, Ordering::SeqCst) % 8 == 7 {
                        store.suspend(election.id());
                        pending::<()>().await;
                    }
                    tokio::task::yield_now().await;
                };
                term.run(work).await;
                store.resume(election.id());
            }
        }));
    }
    for member in members {
        within(member).await.expect("it does not panic");
    }
    assert!(runs.load(Ordering::SeqCst) >= RUNS);
}

#[tokio::test]
async fn a_member_that_does_not_wait_stands_in_nobodys_way() {
    let (idle, busy) = (join("idle", "a").await, join("idle", "b").await);
    for _ in 0..2 {
        let term = within(busy.lead()).await.expect("b leads");
        assert!(!idle.is_leader());
        drop(term);
    }
    // Whoever gives up waiting stands no more.
    assert!(futures_util::FutureExt::now_or_never(idle.lead()).is_none());
    drop(within(busy.lead()).await.expect("b leads"));
    let (first, second) = tokio::join!(within(busy.lead()), async {
        let mut leader = idle.leader();
        within(leader.wait_for(|leader| matches!(leader, Some(Leader::Node { id, .. }) if &**id == "b"))).await.is_ok()
    });
    assert!(first.is_ok() && second);
}

#[tokio::test]
async fn of_two_callers_one_has_the_term() {
    let election = join("callers", "a").await;
    let first = within(election.lead()).await.expect("it leads");
    let mut second = core::pin::pin!(election.lead());
    assert!(futures_util::FutureExt::now_or_never(second.as_mut()).is_none());
    let kept = first.fence();
    drop(first);
    assert!(within(second).await.expect("it leads again").fence().is_newer_than(kept));
}

#[tokio::test]
async fn what_keeps_a_member_from_joining_is_told() {
    let refused = |url: &str| Election::builder(url, "errors").join_limit(Duration::from_millis(50)).join();
    for (url, told) in [("consul://a:1", "unknown store `consul`"), ("etcd://a:1", "not built in this version")] {
        let error = refused(url).await.expect_err("no such store");
        assert!(matches!(error, JoinError::Url(_)) && error.to_string().contains(told), "{error}");
    }
    let error = Election::join("memory:", "a/b").await.expect_err("a slash in the name");
    assert!(matches!(error, JoinError::Refused(_)) && error.to_string().contains("a/b"), "{error}");
    #[cfg(feature = "zookeeper")]
    {
        let error = within(refused("zookeeper://127.0.0.1:1")).await.expect_err("nobody listens");
        assert!(matches!(error, JoinError::Unreachable { .. }), "{error}");
    }
}

#[tokio::test]
async fn an_id_that_is_taken_is_an_error_and_the_first_stays() {
    let first = member("taken", "a").session_timeout(SHORT).join().await.expect("it joins");
    let second = within(member("taken", "a").session_timeout(SHORT).join()).await;
    assert!(matches!(&second, Err(JoinError::IdTaken { id, .. }) if &**id == "a"), "{second:?}");
    assert!(within(first.lead()).await.is_ok());
}

#[test]
fn a_program_without_async_joins_leads_and_leaves() {
    let join = |id: &str| {
        rolecall::blocking::Election::builder("memory:", "blocking").id(id).session_timeout(LONG).join_blocking()
    };
    let (a, b) = (join("a").expect("it joins"), join("b").expect("it joins"));
    let count = AtomicUsize::new(0);
    let term = a.lead().expect("a leads");
    std::thread::scope(|scope| {
        let next = scope.spawn(|| {
            let term = b.lead().expect("b leads");
            term.run(|| drop(Running::alone(&count))).expect("its term holds")
        });
        let done = term.run(|| {
            let _alone = Running::alone(&count);
            assert!(!term.ends_within(Duration::from_millis(50)));
            a.resign();
            while !term.ends_within(LIMIT) {}
            term.check().is_ok()
        });
        assert_eq!(done, Some(true));
        next.join().expect("it does not panic");
    });
    // A member that gives up the lead is listed again a moment later.
    let mut members = b.member_changes();
    while members.next_within(LIMIT).expect("a change in time").len() != 2 {}
    assert!(!a.is_leader());
    drop(b);
    assert_eq!(a.leave(), Outcome::Exited);
}

#[test]
fn a_program_without_async_waits_for_the_leader_and_is_told_of_each() {
    let join = |id: &str| rolecall::blocking::Election::builder("memory:", "blocking leaders").id(id);
    let (a, b) = (join("a").join_blocking().expect("it joins"), join("b").join_blocking().expect("it joins"));
    let is = |leader: &Option<Leader>, name: &str| matches!(leader, Some(Leader::Node { id, .. }) if **id == *name);
    assert_eq!(b.wait_for_leader(Duration::ZERO), None, "nobody has asked to lead yet");
    let mut leaders = b.leader_changes();
    assert_eq!(leaders.next(), Some(None));

    let term = a.lead().expect("a leads");
    assert!(is(&b.wait_for_leader(LIMIT), "a"));
    assert!(is(&leaders.next().expect("b is a member"), "a"));
    drop(term);
    assert_eq!(leaders.next(), Some(None));

    assert_eq!(b.leave(), Outcome::Exited);
    assert_eq!(leaders.next(), None, "the membership is over");
    assert_eq!(a.leave(), Outcome::Exited);
}

#[test]
fn work_without_async_that_outlives_its_term_has_no_result() {
    let election = rolecall::blocking::Election::builder("memory:", "blocking outlived")
        .drain(Duration::ZERO)
        .configure(|config| config.stop_grace = LONG)
        .join_blocking()
        .expect("it joins");
    let term = election.lead().expect("it leads");

    let result = term.run(|| {
        election.resign();
        while term.check().is_ok() {
            assert!(term.ends_within(LIMIT), "it is told to end");
        }
    });

    assert_eq!(result, None);
    assert!(!election.is_leader());
    assert_eq!(election.leave(), Outcome::Exited);
}

/// Members of an election by a lease, on the embedded store.
async fn join_by_lease(name: &str, id: &str) -> Election {
    let member = Election::builder("memory:?election=lease", name).id(id).session_timeout(SHORT);
    within(member.join()).await.expect("the store is in this process")
}

#[tokio::test]
async fn a_lease_is_handed_over_when_its_holder_leaves() {
    let first = join_by_lease("handed over", "a").await;
    let second = join_by_lease("handed over", "b").await;
    let term = within(first.lead()).await.expect("nobody else stands");
    let one = term.check().expect("it leads");
    within(first.leave()).await;
    assert!(term.check().is_err());
    let next = within(second.lead()).await.expect("the first has left");
    assert!(next.fence().is_newer_than(one), "{:?} after {one:?}", next.fence());
    within(second.leave()).await;
}

#[tokio::test]
async fn a_lease_ends_when_its_holder_is_cut_off() {
    let store = MemoryStore::embedded("cut off", Family::Lease);
    let first = join_by_lease("cut off", "a").await;
    let second = join_by_lease("cut off", "b").await;
    let term = within(first.lead()).await.expect("nobody else stands");
    store.suspend("a");
    let next = within(second.lead()).await.expect("the lease ends");
    assert!(term.check().is_err(), "the first stops before the second begins");
    assert!(next.fence().is_newer_than(term.fence()));
    store.resume("a");
}
