//! Watches.

use super::*;
use crate::Directory;
use crate::store::{DirectoryRequest, QueueReply, QueueRequest, Refusal};

#[test]
fn a_watch_fires_once_and_before_the_answer_to_what_set_it_off() {
    let mut world = World::new(1);
    let (a, b) = (world.open("a", A), world.open("b", A));
    let candidate = world.enter(a, 1);
    let of_a = world.watch(a, candidate);
    let of_b = world.watch(b, candidate);

    let out = world.operate(Act::RewriteCandidate(candidate));
    assert_eq!(out, [noticed(a, of_a, Notice::Changed), noticed(b, of_b, Notice::Changed)]);
    assert_eq!(world.operate(Act::RewriteCandidate(candidate)), []);

    let of_b = world.watch(b, candidate);
    let (id, out) = world.send(b, Slot::Sweep, Request::Queue(QueueRequest::Delete { candidate }));
    assert_eq!(
        out,
        [noticed(b, of_b, Notice::Deleted), answered(b, id, Answer::Done(Reply::Queue(QueueReply::Deleted)))]
    );
}

#[test]
fn the_end_of_a_session_fires_the_watches_of_others() {
    let mut world = World::new(1);
    let (a, b) = (world.open("a", A), world.open("b", A));
    let candidate = world.enter(a, 1);
    let id = world.watch(b, candidate);
    world.watch(a, candidate);

    let out = world.fault(Fault::Expire(a));

    assert_eq!(out, [noticed(b, id, Notice::Deleted), Output::Expired { session: a }]);
}

#[test]
fn a_read_of_what_is_missing_leaves_no_watch() {
    let mut world = World::new(1);
    let a = world.open("a", A);
    let candidate = Candidate { sequence: 0, guid: Some(Guid::ours(1)) };
    let inspect = Request::Queue(QueueRequest::Inspect { candidate, watch: true });
    assert_eq!(world.ask(a, inspect), Answer::Refused(Refusal::Missing));
    assert_eq!(world.enter(a, 1), candidate);
    assert_eq!(world.operate(Act::DeleteCandidate(candidate)), []);
}

#[test]
fn of_equal_watches_the_newest_of_each_slot_remains() {
    let mut world = World::new(1);
    let a = world.open("a", A);
    let candidate = world.enter(a, 1);
    world.watch(a, candidate);
    let newest = world.watch(a, candidate);
    let (other_slot, _) = world.send(a, Slot::Sweep, Request::Queue(QueueRequest::Inspect { candidate, watch: true }));
    let armed = world.store.clone();
    assert_ne!(newest, world.watch(a, candidate));
    assert_eq!(world.store.sessions[&a].watches.0.len(), armed.sessions[&a].watches.0.len());

    world.store = armed;
    let out = world.operate(Act::DeleteCandidate(candidate));
    assert_eq!(out, [noticed(a, newest, Notice::Deleted), noticed(a, other_slot, Notice::Deleted)]);
}

#[test]
fn a_directory_tells_of_comings_and_goings_and_an_entry_of_its_end() {
    let mut world = World::new(1);
    let (a, b) = (world.open("a", A), world.open("b", A));
    let directory = Directory::Workers;
    let (mirror, _) = world.send(
        b,
        Slot::Mirror(directory),
        Request::Directory(DirectoryRequest::Members { directory, watch: true }),
    );
    let (_, out) = world.send(
        a,
        Slot::Membership(directory),
        Request::Directory(DirectoryRequest::Join { directory, session: a, epoch: None }),
    );
    assert_eq!(out[0], noticed(b, mirror, Notice::Changed));

    let (mirror, _) = world.send(
        b,
        Slot::Mirror(directory),
        Request::Directory(DirectoryRequest::Members { directory, watch: true }),
    );
    let (own, _) = world.send(
        a,
        Slot::Membership(directory),
        Request::Directory(DirectoryRequest::Verify { directory, session: a }),
    );
    let key = crate::MemberKey { id: "a".into(), session: a };
    // A change of its data concerns only watches on the entry.
    let out = world.operate(Act::RewriteMember { directory, key: key.clone() });
    assert_eq!(out, [noticed(a, own, Notice::Changed)]);

    let (own, _) = world.send(
        a,
        Slot::Membership(directory),
        Request::Directory(DirectoryRequest::Verify { directory, session: a }),
    );
    let out = world.operate(Act::DeleteMember { directory, key });
    assert_eq!(out, [noticed(a, own, Notice::Deleted), noticed(b, mirror, Notice::Changed)]);
}

#[test]
fn a_watch_outlives_the_link_and_tells_on_return_what_was_missed() {
    let mut world = World::new(2);
    let (a, b) = (world.open("a", A), world.open("b", A));
    let (gone, kept) = (world.enter(a, 1), world.enter(a, 2));
    let missed = world.watch(b, gone);
    let armed = world.watch(b, kept);
    world.event(Event::Disconnect { session: b });
    assert_eq!(world.operate(Act::DeleteCandidate(gone)), []);

    let out = world.connect("b", B, Some(b));

    let up = Output::Connected { session: b, timeout: TIMEOUT };
    assert_eq!(out, [up, noticed(b, missed, Notice::Deleted)]);
    assert_eq!(world.operate(Act::DeleteCandidate(kept)), [noticed(b, armed, Notice::Deleted)]);
}
