//! Leadership ends by itself, is given up before its candidate, and is resigned when it cannot be served.

use std::time::Duration;

use rolecall_core::store::{Act, Answer, DirectoryReply, QueueReply, QueueRequest, Reply, Request};
use rolecall_core::{Event, Health, Leader, Role};

use crate::world::{LATENCY, TIMEOUT, World};
use crate::{leads, three};

// Q-B07
#[test]
fn a_term_is_counted_from_the_last_write_that_was_confirmed_not_from_the_loss_that_was_noticed() {
    let mut world = three();
    // The link dies silently: answers and pings stop, and nobody reports it.
    world.host("a").loses = Some(|_| true);
    let (_, until) = world.node("a").term().expect("it leads");
    world.run(LATENCY);
    world.cut("a");
    world.until("closed its gate", |world| world.node("a").term().is_none());
    assert!(world.now <= until + LATENCY);
    world.settle_without("a");
    assert!(leads(&world, "b"));
}

// Q-B10
#[test]
fn a_leader_that_was_paused_begins_nothing_when_it_goes_on() {
    let mut world = three();
    world.pause("a");
    world.until("b led", |world| world.role("b") == Role::Leader);
    // The gate is judged as soon as the process goes on, before it has read anything.
    world.resume("a");
    assert_eq!(world.leaders(), ["b"]);
    world.settle();
}

// Q-B79
#[test]
fn a_leader_that_can_reach_nobody_steps_down_by_its_own_clock() {
    let mut world = three();
    let (_, until) = world.node("a").term().expect("it leads");
    world.cut("a");
    world.run(until.since(world.now) + LATENCY);
    assert!(world.node("a").term().is_none());
    world.until("stopped", |world| world.role("a") != Role::Leader);
}

// Q-B08
#[test]
fn a_leader_whose_candidate_is_deleted_steps_down_and_enters_again() {
    let mut world = three();
    let old = world.delete_candidate_of("a");
    world.run(4 * LATENCY);
    assert!(world.node("a").term().is_none());
    world.settle();
    assert!(leads(&world, "b"));
    assert!(world.candidate_of("a") > old);
}

// Q-B03
#[test]
fn whoever_gives_up_its_candidate_has_left_leadership_first() {
    let mut world = three();
    world.host("a").holds =
        Some(|event| matches!(event, Event::Answered { answer: Answer::Done(Reply::Queue(QueueReply::Deleted)), .. }));
    world.deliver("a", Event::Resign);
    world.until("deleted", |world| world.queue().len() == 2 || world.queue()[0].0.sequence > 0);
    assert!(world.node("a").term().is_none());
    // News of its predecessor that comes late means nothing to it now.
    world.run(20 * LATENCY);
    assert!(world.leaders() != ["a"]);
    world.release("a");
    world.settle();
    assert!(leads(&world, "b"));
}

// Q-B38
#[test]
fn a_leader_whose_service_does_not_stop_well_gives_its_place_up_all_the_same() {
    let mut world = three();
    world.host("a").stop_takes = Duration::from_secs(7);
    world.deliver("a", Event::Resign);
    world.until("b led", |world| leads(world, "b"));
    world.settle();
}

// Q-B21
#[test]
fn every_refusal_leads_to_another_try_that_the_health_shows() {
    let mut world = World::new();
    world.host_with_failing_starts("a", 2);
    world.until("failed", |world| world.node("a").health() == Health::Failing(1));
    assert!(world.node("a").next_deadline().is_some());
    world.settle();
    assert_eq!(world.node("a").health(), Health::Serving);
}

// Q-B21 (a session that ends while everything is under way)
#[test]
fn a_session_that_ends_at_any_moment_of_a_start_is_followed_by_another_try() {
    for millis in 1..40 {
        let mut world = World::new();
        world.start("a");
        world.run(Duration::from_millis(millis));
        world.expire("a");
        world.settle();
        assert!(leads(&world, "a"));
    }
}

// Q-B19
#[test]
fn an_election_that_is_empty_again_is_entered_again() {
    let mut world = World::new();
    world.start_in_order(&["a"]);
    world.settle();
    world.fault(rolecall_core::store::Fault::Restart { keep_data: false });
    world.settle();
    assert!(leads(&world, "a"));
    assert_eq!(world.candidate_of("a").sequence, 0);
}

// Q-B71
#[test]
fn after_a_loss_of_the_store_nobody_is_believed_to_lead_until_that_was_read_anew() {
    let mut world = three();
    assert!(matches!(world.node("c").leader(), Some(Leader::Node { id, .. }) if &*id == "a"));
    world.cut("c");
    assert_eq!(world.node("c").leader(), None);
    world.crash("a");
    world.run(2 * TIMEOUT);
    world.host("c").holds = Some(|event| {
        matches!(event, Event::Answered { answer: Answer::Done(Reply::Directory(DirectoryReply::Members(_))), .. })
    });
    world.heal("c");
    world.run(20 * LATENCY);
    assert_eq!(world.node("c").leader(), None);
    world.release("c");
    world.settle();
    assert!(matches!(world.node("c").leader(), Some(Leader::Node { id, .. }) if &*id == "b"));
}

// Q-B76
#[test]
fn each_start_of_a_service_is_followed_by_exactly_one_stop_however_leadership_ends() {
    for ending in 0..5 {
        let mut world = three();
        match ending {
            0 => world.deliver("a", Event::Shutdown),
            1 => world.deliver("a", Event::Resign),
            2 => world.expire("a"),
            3 => _ = world.delete_candidate_of("a"),
            _ => world.cut("a"),
        }
        // The observer judges the pairs; this shows that the end comes at all.
        world.until("stopped", |world| world.role("a") != Role::Leader);
        assert_eq!(world.trace.text().matches("stop service 1").count(), 1, "{}", world.trace.text());
    }
}

// Q-B01 (a leader that holds no watch on its own candidate is never told)
#[test]
fn a_leader_watches_its_own_candidate_again_after_its_data_was_rewritten() {
    let mut world = three();
    let own = world.candidate_of("a");
    world.operator(Act::RewriteCandidate(own));
    world.run(20 * LATENCY);
    assert!(leads(&world, "a"));
    let looks =
        world.hosts["a"].count(|ask| *ask == Request::Queue(QueueRequest::Inspect { candidate: own, watch: true }));
    assert_eq!(looks, 2);
}
