//! Wishes on the embedded store, with both kinds of election.

use core::convert::Infallible;
use core::error::Error;
use core::time::Duration;
use std::sync::Arc;

use rolecall::store::{Act, Aim, MemoryStore, Participant, Store, Wish};
use rolecall::{Assignment, Config, Family, Leader, NodeBuilder, Role, RunningNode, Service, SystemClock, Timing};

use super::wisher::{End, Wisher};

/// Long enough for what comes, and never waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Short, for what never comes.
const SHORT: Duration = Duration::from_millis(700);

struct Nothing;

impl Service for Nothing {
    type Running = ();

    async fn start(&self, _assignment: Assignment) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }
}

async fn node(store: &MemoryStore, election: Family, id: &str, heeds_wishes: bool) -> RunningNode {
    let store = store.clone();
    let open = move |participant| Ok::<Box<dyn Store>, Infallible>(Box::new(store.connect(participant)));
    let mut config = Config::new(id);
    config.heeds_wishes = heeds_wishes;
    if election == Family::Lease {
        config.election = Timing::LEASE;
    }
    let node = NodeBuilder::new(config, Nothing, open).address(format!("{id}.example:80"));
    node.start().await.expect("a thread can be started")
}

/// A leader `a`, which heeds wishes or not.
async fn led(heeds_wishes: bool) -> (MemoryStore, RunningNode) {
    let store = MemoryStore::new(Arc::new(SystemClock::new()));
    let node = node(&store, Family::Queue, "a", heeds_wishes).await;
    node.observer().until(|status| status.role == Role::Leader).await.expect("it leads");
    (store, node)
}

async fn wish(store: &MemoryStore, aim: Aim, limit: Duration) -> End {
    let participant = Participant::new("default", "wish", Duration::from_secs(10));
    Wisher::new(&mut store.connect(participant), aim, "a test".into()).run(limit).await
}

fn id(leader: &Leader) -> &str {
    match leader {
        Leader::Node { id, .. } | Leader::Foreign { id } => id,
    }
}

#[tokio::test]
async fn the_next_node_leads_after_a_leader_that_was_asked_to_resign() {
    for election in [Family::Queue, Family::Lease] {
        let store = MemoryStore::embedded("resigns", election);
        let first = node(&store, election, "a", true).await;
        first.observer().until(|status| status.role == Role::Leader).await.expect("it leads");
        let second = node(&store, election, "b", true).await;
        second.observer().until(|status| status.role == Role::Worker).await.expect("it works");

        let end = wish(&store, Aim::Resign, PATIENCE).await;

        let End::Led { before, after } = &end else { panic!("{election:?}: {end:?}") };
        assert_eq!((id(before), id(after)), ("a", "b"));
        assert!(
            matches!((before, after), (Leader::Node { epoch: old, .. }, Leader::Node { epoch: new, .. }) if new > old)
        );
    }
}

#[tokio::test]
async fn a_node_that_does_not_lead_is_not_asked_and_nobody_else_is() {
    let (store, leader) = led(true).await;
    let participant = || Participant::new("default", "wish", Duration::from_secs(10));
    let mut connection = store.connect(participant());
    let wisher = Wisher::new(&mut connection, Aim::Resign, "a test".into()).only(Some("b".into()));
    let end = wisher.run(PATIENCE).await;
    assert!(matches!(&end, End::Elsewhere(leader) if id(leader) == "a"), "{end:?}");
    assert_eq!(leader.observer().status().role, Role::Leader);

    let mut connection = store.connect(participant());
    let wisher = Wisher::new(&mut connection, Aim::Resign, "a test".into()).only(Some("a".into()));
    let end = wisher.run(PATIENCE).await;
    assert!(matches!(&end, End::Led { before, .. } if id(before) == "a"), "{end:?}");
}

#[tokio::test]
async fn a_wish_that_nobody_answers_is_withdrawn() {
    let (store, leader) = led(false).await;
    let end = wish(&store, Aim::Resign, SHORT).await;
    assert!(
        matches!(&end, End::Late { leader: Some(leader), obeyed: false, withdrawn: true } if id(leader) == "a"),
        "{end:?}"
    );
    assert_eq!(leader.observer().status().role, Role::Leader);
    // Withdrawn, it stands in no other's way.
    drop(leader);
    store.expire("a");
    let _heeds = node(&store, Family::Queue, "b", true).await;
    let end = wish(&store, Aim::Resign, PATIENCE).await;
    assert!(matches!(end, End::Led { .. }), "{end:?}");
}

#[tokio::test]
async fn where_nobody_leads_there_is_nothing_to_wish() {
    let store = MemoryStore::new(Arc::new(SystemClock::new()));
    assert_eq!(wish(&store, Aim::Resign, SHORT).await, End::Nobody);
}

#[tokio::test]
async fn garbage_in_the_place_of_the_wish_is_told_and_left_alone() {
    let (store, leader) = led(true).await;
    store.operate(Act::SpoilWish);
    assert_eq!(wish(&store, Aim::Resign, PATIENCE).await, End::Malformed);
    assert_eq!(leader.observer().status().role, Role::Leader);
}

#[tokio::test]
async fn the_wish_of_another_is_not_written_over() {
    let (store, leader) = led(false).await;
    let term = leader.observer().status().floor.expect("it leads");
    let other = Wish { id: 1, aim: Aim::Resign, term, author: "another".into(), verdict: None };
    store.operate(Act::Wish(Box::new(other)));
    assert_eq!(wish(&store, Aim::Resign, SHORT).await, End::Other("another".into()));
}

#[tokio::test]
async fn a_refusal_is_told_with_its_reason() {
    let (store, leader) = led(true).await;
    let end = wish(&store, Aim::Handover { to: "b".into() }, PATIENCE).await;
    assert!(matches!(&end, End::Refused(reason) if reason.contains("hand over to b")), "{end:?}");
    assert_eq!(leader.observer().status().role, Role::Leader);
}
