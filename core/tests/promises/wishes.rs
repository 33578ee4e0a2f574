//! A wish is obeyed or reported (P15), whatever happens in between.

use std::time::Duration;

use rolecall_core::store::{Act, Aim, Answer, Refusal, Reply, Request, Verdict, Wish, WishReply, WishRequest};
use rolecall_core::testing::{Cluster, LATENCY, Steady};
use rolecall_core::{Action, Epoch, Event, Fence, Health, Incarnation, OpId, Role, Slot};

use crate::{in_order, three};

/// Three nodes at rest on a lease, led by `a`.
fn three_on_a_lease() -> Cluster {
    let mut cluster = Cluster::with_lease();
    cluster.start_in_order(&["a", "b", "c"]);
    cluster.settle();
    cluster.fresh_trace();
    cluster
}

fn term(cluster: &Cluster) -> Fence {
    cluster.node("a").term().expect("it leads").0
}

fn wish(aim: Aim, term: Fence) -> Wish {
    Wish { id: 7, aim, term, author: "an operator".into(), verdict: None }
}

fn put(cluster: &mut Cluster, aim: Aim, term: Fence) {
    cluster.operator(Act::Wish(Box::new(wish(aim, term))));
}

fn verdict(cluster: &Cluster) -> Option<&Verdict> {
    cluster.store.wish().and_then(|wish| wish.verdict.as_ref())
}

fn is_write(request: &Request) -> bool {
    matches!(request, Request::Wish(WishRequest::Write { .. }))
}

#[test]
fn a_leader_answers_first_then_stops_its_service_and_only_then_gives_up_its_claim() {
    for (mut cluster, given_up) in [(three(), "delete candidate 0"), (three_on_a_lease(), "release the lease")] {
        cluster.host("a").stop_takes = Duration::from_millis(700);
        let term = term(&cluster);
        put(&mut cluster, Aim::Resign, term);
        cluster.until("another led", |cluster| cluster.leaders().iter().any(|leader| *leader != "a"));
        assert_eq!(verdict(&cluster), Some(&Verdict::Obeyed));
        in_order(&cluster, &["obeyed", "stop service", "service 1 stopped", given_up]);
        cluster.settle();
        assert_eq!(cluster.role("a"), Role::Worker);
    }
}

#[test]
fn a_wish_for_another_term_is_left_alone_for_ever() {
    for mut cluster in [three(), three_on_a_lease()] {
        let Fence { incarnation, epoch } = term(&cluster);
        for other in [
            Fence { incarnation, epoch: Epoch(epoch.0 - 1) },
            Fence { incarnation, epoch: Epoch(epoch.0 + 1) },
            Fence { incarnation: Incarnation(incarnation.0 ^ 1), epoch },
        ] {
            put(&mut cluster, Aim::Resign, other);
            cluster.run(Duration::from_secs(40));
            assert_eq!((cluster.leaders(), verdict(&cluster)), (vec!["a"], None));
        }
    }
}

#[test]
fn a_wish_that_was_answered_acts_no_second_time() {
    let mut cluster = three();
    let first = term(&cluster);
    put(&mut cluster, Aim::Resign, first);
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
    cluster.settle();
    // The first leader leads again, with the answered wish still in the store.
    cluster.crash("c");
    cluster.crash("b");
    cluster.until("a led", |cluster| cluster.leaders() == ["a"]);
    cluster.run(Duration::from_secs(40));
    assert_eq!(cluster.leaders(), ["a"]);
}

#[test]
fn an_answer_of_unknown_outcome_is_read_again() {
    for mut cluster in [three(), three_on_a_lease()] {
        cluster.host("a").loses = Some(is_write);
        let term = term(&cluster);
        put(&mut cluster, Aim::Resign, term);
        cluster.until("another led", |cluster| cluster.leaders().iter().any(|leader| *leader != "a"));
        let writes = cluster.host("a").asked.iter().filter(|(_, request)| is_write(request)).count();
        assert_eq!((writes, verdict(&cluster)), (1, Some(&Verdict::Obeyed)));
    }
}

#[test]
fn a_leader_that_is_cut_off_after_its_answer_ends_its_term_all_the_same() {
    for mut cluster in [three(), three_on_a_lease()] {
        let ended = term(&cluster);
        cluster.host("a").holds = Some(|event| {
            matches!(event, Event::Answered { answer: Answer::Done(Reply::Wish(WishReply::Written { .. })), .. })
        });
        put(&mut cluster, Aim::Resign, ended);
        cluster.run(5 * LATENCY);
        assert_eq!(verdict(&cluster), Some(&Verdict::Obeyed));
        assert_eq!(cluster.leaders(), ["a"], "its answer has not come back");
        cluster.cut("a");
        cluster.run(50 * LATENCY);
        cluster.heal("a");
        cluster.until("another led", |cluster| cluster.leaders().iter().any(|leader| *leader != "a"));
        cluster.settle();
        assert!(cluster.hosts.values().all(|host| host.node.term().is_none_or(|(fence, _)| fence != ended)));
    }
}

#[test]
fn a_wish_is_found_after_a_reconnect_and_by_a_leader_that_has_just_begun() {
    let mut cluster = three();
    let led = term(&cluster);
    cluster.cut("a");
    put(&mut cluster, Aim::Resign, led);
    cluster.run(100 * LATENCY);
    cluster.heal("a");
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
    assert_eq!(verdict(&cluster), Some(&Verdict::Obeyed));
}

#[test]
fn garbage_in_the_place_of_the_wish_changes_nothing_and_a_later_wish_is_heard() {
    let mut cluster = three();
    cluster.operator(Act::SpoilWish);
    cluster.run(Duration::from_secs(1));
    assert_eq!(cluster.leaders(), ["a"]);
    let term = term(&cluster);
    put(&mut cluster, Aim::Resign, term);
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
}

#[test]
fn a_store_that_denies_the_wish_leaves_the_leader_in_its_place() {
    for mut steady in [Steady::leader(2), Steady::lease_holder(2)] {
        let id = noticed(&mut steady);
        steady.event(Event::Answered { id, answer: Answer::Refused(Refusal::Denied) });
        (steady.out.newest, steady.out.count) = (None, 0);
        for _ in 0..20 {
            steady.beat();
        }
        assert_eq!(steady.out.count, 40, "heartbeats, and what they prove, and nothing else");
        assert_eq!((steady.node.role(), steady.node.health()), (Role::Leader, Health::Serving));
        assert_eq!(steady.node.check(), Ok(()));
    }
}

/// Fires the watch on the wish. Returns the id of the request that follows.
fn noticed(steady: &mut Steady) -> OpId {
    // The watch was set by the newest request in its slot; which one it was is found by trying.
    for sequence in 0..1_000 {
        for link in 0..4 {
            let id = OpId { link: rolecall_core::Link(link), slot: Slot::Wish, sequence };
            let mut actions = Vec::new();
            let mut twin = steady.node.clone();
            let notice = rolecall_core::store::Notice::Changed;
            twin.handle(steady.now, Event::Noticed { id, notice }, &mut actions);
            if let Some(Action::Store { id, .. }) = actions.first() {
                steady.node = twin;
                return *id;
            }
        }
    }
    panic!("a leader watches the wish")
}
