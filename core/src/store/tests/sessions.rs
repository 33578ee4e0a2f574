//! Sessions, and the entries that live with them.

use super::*;
use crate::store::{DirectoryReply, DirectoryRequest, QueueRequest, Refusal};
use crate::{Directory, Epoch, MemberKey};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_timeout_is_kept_between_two_and_twenty_ticks_or_granted_as_asked() {
    let ask = |timing, wanted| {
        let mut out = Vec::new();
        let connect = Event::Connect { server: A, client: client("a"), previous: None, timeout: wanted };
        Machine::new(timing, 1).handle(Time::ZERO, connect, &mut out);
        match out[..] {
            [Output::Connected { timeout, .. }] => timeout,
            _ => panic!("not connected: {out:?}"),
        }
    };
    assert_eq!(ask(Timing::bounded(TICK), SECOND), 4 * SECOND);
    assert_eq!(ask(Timing::bounded(TICK), 5 * SECOND), 5 * SECOND);
    assert_eq!(ask(Timing::bounded(TICK), 60 * SECOND), 40 * SECOND);
    assert_eq!(ask(Timing::unbounded(TICK), SECOND), SECOND);
}

#[test]
fn a_session_ends_at_the_next_whole_tick_after_its_timeout() {
    let mut world = World::new(1);
    world.now = Time::from_millis(500);
    let a = world.open("a", A);
    assert_eq!(world.store.next_deadline(), Some(Time::from_millis(12_000)));

    world.now = Time::from_millis(2_000);
    world.event(Event::Ping { session: a });
    // Even a timeout of a whole number of ticks is rounded up, to one tick more.
    assert_eq!(world.store.next_deadline(), Some(Time::from_millis(14_000)));

    assert_eq!(world.pass(11 * SECOND), []);
    assert_eq!(world.pass(SECOND), [Output::Expired { session: a }]);
    assert_eq!(world.store.next_deadline(), None);
    let (id, out) = world.send(a, Slot::Election, Request::Queue(QueueRequest::List));
    let refused = answered(a, id, Answer::Refused(Refusal::SessionOver));
    assert_eq!(out, [refused, Output::Expired { session: a }]);
    assert_eq!(world.event(Event::Close { session: a }), [Output::Expired { session: a }]);
    assert_eq!(world.connect("a", A, Some(a)), [Output::Expired { session: a }]);
}

#[test]
fn requests_keep_a_session_alive_and_a_lost_link_does_not_end_it() {
    let mut world = World::new(1);
    let a = world.open("a", A);
    let candidate = world.enter(a, 1);
    world.pass(9 * SECOND);
    assert_eq!(world.queue(a), [candidate]);
    world.pass(9 * SECOND);
    world.event(Event::Disconnect { session: a });
    assert_eq!(world.ask(a, Request::Queue(QueueRequest::List)), Answer::Refused(Refusal::Disconnected));

    assert_eq!(world.connect("a", A, Some(a)), [Output::Connected { session: a, timeout: TIMEOUT }]);
    assert_eq!(world.queue(a), [candidate]);
}

#[test]
fn only_the_client_that_opened_it_goes_on_with_a_session() {
    let mut world = World::new(1);
    let a = world.open("a", A);
    assert_eq!(world.connect("b", A, Some(a)), [Output::Expired { session: a }]);
    assert_eq!(world.queue(a), []);
}

#[test]
fn what_a_session_owns_goes_with_it() {
    let mut world = World::new(1);
    let (a, b) = (world.open("a", A), world.open("b", A));
    let (of_a, of_b) = (world.enter(a, 1), world.enter(b, 2));
    let join = Request::Directory(DirectoryRequest::Join { directory: Directory::Workers, session: a, epoch: None });
    assert_eq!(world.ask(a, join), Answer::Done(Reply::Directory(DirectoryReply::Joined)));
    assert_eq!(world.queue(b), [of_a, of_b]);

    assert_eq!(world.event(Event::Close { session: a }), [Output::Closed { session: a }]);

    assert_eq!(world.queue(b), [of_b]);
    let members = Request::Directory(DirectoryRequest::Members { directory: Directory::Workers, watch: false });
    assert_eq!(
        world.ask(b, members),
        Answer::Done(Reply::Directory(DirectoryReply::Members(crate::Snapshot::default())))
    );
}

#[test]
fn a_node_leaves_what_its_old_session_left_by_its_name() {
    let mut world = World::new(1);
    let old = world.open("a", A);
    let directory = Directory::Coordinators;
    let join = |session| Request::Directory(DirectoryRequest::Join { directory, session, epoch: Some(Epoch(4)) });
    assert_eq!(world.ask(old, join(old)), Answer::Done(Reply::Directory(DirectoryReply::Joined)));
    assert_eq!(world.ask(old, join(old)), Answer::Refused(Refusal::Exists));
    world.event(Event::Disconnect { session: old });
    let new = world.open("a", A);

    let verify = |session| Request::Directory(DirectoryRequest::Verify { directory, session });
    let registered = Reply::Directory(DirectoryReply::Registered { owner: old, epoch: Some(Epoch(4)) });
    assert_eq!(world.ask(new, verify(old)), Answer::Done(registered));
    // The name belongs to one node: another node's entry stays.
    let other = world.open("b", A);
    assert_eq!(
        world.ask(other, Request::Directory(DirectoryRequest::Leave { directory, session: old })),
        Answer::Refused(Refusal::Missing)
    );
    let (id, out) = world.send(
        new,
        Slot::Membership(directory),
        Request::Directory(DirectoryRequest::Leave { directory, session: old }),
    );
    assert_eq!(out.last(), Some(&answered(new, id, Answer::Done(Reply::Directory(DirectoryReply::Left)))));
    assert_eq!(world.ask(new, verify(old)), Answer::Refused(Refusal::Missing));
    assert_eq!(world.ask(new, join(new)), Answer::Done(Reply::Directory(DirectoryReply::Joined)));
}

#[test]
fn members_are_listed_in_order_with_what_they_say_and_when_they_came() {
    let mut world = World::new(1);
    let (b, a) = (world.open("b", A), world.open("a", A));
    let directory = Directory::Workers;
    for session in [b, a] {
        world.ask(session, Request::Directory(DirectoryRequest::Join { directory, session, epoch: None }));
    }
    let key = MemberKey { id: "z".into(), session: Session(99) };
    let address = "z:80".into();
    world.operate(Act::AddMember { directory, key, address, epoch: None, owner: Session(99) });
    world.operate(Act::LitterDirectory(directory));

    let Answer::Done(Reply::Directory(DirectoryReply::Members(snapshot))) =
        world.ask(a, Request::Directory(DirectoryRequest::Members { directory, watch: false }))
    else {
        panic!("no members");
    };

    let members: Vec<_> =
        snapshot.members.iter().map(|m| (&*m.key.id, m.key.session, &*m.address, m.created)).collect();
    assert_eq!(members, [("a", a, "a:80", 2), ("b", b, "b:80", 1), ("z", Session(99), "z:80", 3)]);
    assert_eq!(snapshot.members[0].session_timeout, Some(TIMEOUT));
    assert_eq!(snapshot.skipped, 1);
}
