//! Servers that lag, are cut off, or start again.

use super::*;
use crate::store::{DirectoryRequest, QueueReply, QueueRequest, Refusal, Rejection, TermRequest};
use crate::{Directory, Incarnation};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_server_that_lags_shows_the_past_until_it_is_caught_up() {
    let mut world = World::new(2);
    let (a, b) = (world.open("a", A), world.open("b", B));
    let first = world.enter(a, 1);
    let watch = world.watch(b, first);
    world.fault(Fault::Lag(B));
    let second = world.enter(a, 2);
    world.operate(Act::DeleteCandidate(first));
    assert_eq!(world.queue(b), [first]);

    let (id, out) = world.send(b, Slot::Election, Request::Sync);

    assert_eq!(out, [noticed(b, watch, Notice::Deleted), answered(b, id, Answer::Done(Reply::Synced))]);
    assert_eq!(world.queue(b), [second]);
}

#[test]
fn a_client_sees_its_own_writes_at_a_server_that_lags() {
    let mut world = World::new(2);
    let (a, b) = (world.open("a", A), world.open("b", B));
    world.fault(Fault::Lag(B));
    let first = world.enter(a, 1);
    let second = world.enter(b, 2);
    assert_eq!(world.queue(b), [first, second]);
}

#[test]
fn a_client_is_turned_away_by_a_server_that_knows_less_than_it_has_seen() {
    let mut world = World::new(2);
    let a = world.open("a", A);
    world.fault(Fault::Lag(B));
    let candidate = world.enter(a, 1);
    world.event(Event::Disconnect { session: a });

    let behind = Output::Rejected { server: B, why: Rejection::Behind };
    assert_eq!(world.connect("a", B, Some(a)), [behind]);

    world.fault(Fault::CatchUp(B));
    assert_eq!(world.connect("a", B, Some(a)), [Output::Connected { session: a, timeout: TIMEOUT }]);
    assert_eq!(world.queue(a), [candidate]);
}

#[test]
fn a_server_that_is_cut_off_reads_and_syncs_but_commits_nothing_while_the_others_end_its_sessions() {
    let mut world = World::new(2);
    let (a, b) = (world.open("a", A), world.open("b", B));
    let (of_a, of_b) = (world.enter(a, 1), world.enter(b, 2));
    world.fault(Fault::Cut(A));
    assert_eq!(world.connect("c", A, None), [Output::Rejected { server: A, why: Rejection::Unreachable }]);

    // Its client goes on as if nothing had happened.
    for _ in 0..3 {
        world.event(Event::Ping { session: b });
        world.event(Event::Ping { session: a });
        assert_eq!(world.ask(a, Request::Sync), Answer::Done(Reply::Synced));
        assert_eq!(world.pass(4 * SECOND), []);
    }
    assert_eq!(world.queue(b), [of_b], "the majority has ended the session");
    assert_eq!(world.queue(a), [of_a, of_b], "the server that is cut off does not know");

    // A write waits, and so do all requests after it.
    let (beat, out) = world.send(a, Slot::Beat, Request::Queue(QueueRequest::Beat { candidate: of_a }));
    assert_eq!(out, []);
    let (list, out) = world.send(a, Slot::Election, Request::Queue(QueueRequest::List));
    assert_eq!(out, []);

    let out = world.fault(Fault::Heal { server: A, deliver: true });
    let over = [answered(a, beat, Answer::Unknown), answered(a, list, Answer::Unknown), Output::Expired { session: a }];
    assert_eq!(out, over);
}

#[test]
fn what_was_heard_in_the_half_tick_before_a_cut_counts_for_nothing() {
    let mut world = World::new(2);
    let a = world.open("a", A);
    world.pass(4 * SECOND);
    world.event(Event::Ping { session: a });
    let known = world.store.next_deadline();
    world.pass(4 * SECOND);
    world.event(Event::Ping { session: a });
    assert!(world.store.next_deadline() > known);

    world.fault(Fault::Cut(A));

    assert_eq!(world.store.next_deadline(), known);
}

#[test]
fn a_client_that_is_heard_all_the_time_is_known_to_live_half_a_tick_before_a_cut() {
    let mut world = World::new(2);
    let a = world.open("a", A);
    for _ in 0..40 {
        world.pass(SECOND / 4);
        world.event(Event::Ping { session: a });
    }
    world.fault(Fault::Cut(A));
    // The tick is 2 s: the last known contact at 9 s, plus the timeout of 10 s, rounded up to the end of the tick.
    assert_eq!(world.store.next_deadline(), Some(Time::from_millis(20_000)));
}

#[test]
fn the_majority_knows_of_a_session_from_its_beginning() {
    let mut world = World::new(2);
    world.now = Time::from_millis(2_000);
    world.open("a", A);
    let deadline = world.store.next_deadline();
    world.fault(Fault::Cut(A));
    assert_eq!(world.store.next_deadline(), deadline);
}

#[test]
fn a_held_write_happens_late_after_a_short_cut_and_never_after_a_long_one() {
    for deliver in [true, false] {
        let mut world = World::new(2);
        let (a, b) = (world.open("a", A), world.open("b", B));
        world.fault(Fault::Cut(A));
        let (enter, out) = world.send(a, Slot::Election, Request::Queue(QueueRequest::Enter { guid: Guid::ours(1) }));
        assert_eq!(out, []);

        let out = world.fault(Fault::Heal { server: A, deliver });

        let queue = world.queue(b);
        if deliver {
            assert_eq!(out, [answered(a, enter, Answer::Done(Reply::Queue(QueueReply::Entered(queue[0]))))]);
        } else {
            assert_eq!(queue, []);
            assert_eq!(out, [answered(a, enter, Answer::Unknown), Output::Disconnected { session: a }]);
        }
    }
}

#[test]
fn a_write_that_was_given_up_with_its_link_may_still_happen() {
    let mut world = World::new(2);
    let (a, b) = (world.open("a", A), world.open("b", B));
    world.fault(Fault::Cut(A));
    let (enter, _) = world.send(a, Slot::Election, Request::Queue(QueueRequest::Enter { guid: Guid::ours(1) }));
    let out = world.event(Event::Disconnect { session: a });
    assert_eq!(out, [answered(a, enter, Answer::Unknown)]);
    assert_eq!(world.queue(b), []);

    assert_eq!(world.fault(Fault::Heal { server: A, deliver: true }), []);

    assert_eq!(world.queue(b).len(), 1);
}

#[test]
fn a_write_held_for_a_session_that_has_moved_never_happens() {
    let mut world = World::new(2);
    let (a, b) = (world.open("a", A), world.open("b", B));
    world.fault(Fault::Cut(A));
    let (enter, _) = world.send(a, Slot::Election, Request::Queue(QueueRequest::Enter { guid: Guid::ours(1) }));

    let out = world.connect("a", B, Some(a));

    assert_eq!(out, [answered(a, enter, Answer::Unknown), Output::Connected { session: a, timeout: TIMEOUT }]);
    assert_eq!(world.fault(Fault::Heal { server: A, deliver: true }), []);
    assert_eq!(world.queue(b), []);
}

#[test]
fn what_was_sent_after_a_close_that_was_held_is_refused() {
    let mut world = World::new(2);
    let a = world.open("a", A);
    world.fault(Fault::Cut(A));
    assert_eq!(world.event(Event::Close { session: a }), []);
    let (late, _) = world.send(a, Slot::Election, Request::Queue(QueueRequest::List));

    let out = world.fault(Fault::Heal { server: A, deliver: true });

    let refused = answered(a, late, Answer::Refused(Refusal::SessionOver));
    assert_eq!(out, [Output::Closed { session: a }, refused]);
}

#[test]
fn the_last_server_is_never_cut_off() {
    let mut world = World::new(2);
    let a = world.open("a", A);
    world.fault(Fault::Cut(B));
    world.fault(Fault::Cut(A));
    world.enter(a, 1);
    world.fault(Fault::Heal { server: B, deliver: true });
    world.fault(Fault::Cut(A));
    let (_, out) = world.send(a, Slot::Election, Request::Queue(QueueRequest::Enter { guid: Guid::ours(2) }));
    assert_eq!(out, []);
}

#[test]
fn a_client_whose_session_ended_behind_the_back_of_its_server_learns_it_with_its_next_write() {
    let mut world = World::new(2);
    let a = world.open("a", A);
    let candidate = world.enter(a, 1);
    world.fault(Fault::Lag(A));
    assert_eq!(world.fault(Fault::Expire(a)), []);
    assert_eq!(world.queue(a), [candidate]);

    let (id, out) = world.send(a, Slot::Beat, Request::Queue(QueueRequest::Beat { candidate }));

    let over = answered(a, id, Answer::Refused(Refusal::SessionOver));
    assert_eq!(out, [over, Output::Expired { session: a }]);
}

#[test]
fn a_restart_breaks_every_link_and_gives_every_session_its_whole_time_again() {
    let mut world = World::new(1);
    let a = world.open("a", A);
    let candidate = world.enter(a, 1);
    world.pass(9 * SECOND);

    let out = world.fault(Fault::Restart { keep_data: true });

    assert_eq!(out, [Output::Disconnected { session: a }]);
    assert_eq!(world.pass(9 * SECOND), []);
    assert_eq!(world.connect("a", A, Some(a)), [Output::Connected { session: a, timeout: TIMEOUT }]);
    assert_eq!(world.queue(a), [candidate]);
}

#[test]
fn a_store_that_lost_its_data_counts_from_the_start_but_gives_no_session_number_twice() {
    let mut world = World::new(1);
    let a = world.open("a", A);
    let candidate = world.enter(a, 1);
    world.ask(a, Request::Queue(QueueRequest::Claim { candidate, incarnation: Incarnation(1), create: true }));
    world.ask(a, Request::Directory(DirectoryRequest::Join { directory: Directory::Workers, session: a, epoch: None }));

    world.fault(Fault::Restart { keep_data: false });

    assert_eq!(world.connect("a", A, Some(a)), [Output::Expired { session: a }]);
    let new = world.open("a", A);
    assert!(new > a);
    assert_eq!(world.ask(new, Request::Term(TermRequest::Read)), Answer::Refused(Refusal::Missing));
    assert_eq!(world.enter(new, 2).sequence, 0);
    assert_eq!(world.store.tree.revision, 1);
}
