//! The canonical form of a state: the same state with other names.

use alloc::collections::BTreeSet;

use proptest::prelude::*;

use super::arbitrary::event;
use super::*;
use crate::rename::{Rename, Renamer, RevisionKind};
use crate::store::{QueueReply, QueueRequest};

/// Adds a fixed amount to every number.
struct Shift;

impl Renamer for Shift {
    fn operation(&mut self, id: &mut OpId) {
        id.sequence += 1000;
    }

    fn revision(&mut self, _: RevisionKind, revision: &mut u64) {
        *revision += 100;
    }

    fn sequence(&mut self, sequence: &mut i64) {
        *sequence += 10;
    }

    fn next_sequence(&mut self, next: &mut i64) {
        *next += 10;
    }
}

impl Shift {
    fn event(event: Event) -> Event {
        match event {
            Event::Request { session, mut id, mut request } => {
                Self.operation(&mut id);
                request.rename(&mut Self);
                Event::Request { session, id, request }
            }
            Event::Operator(act) => Event::Operator(Self::act(act)),
            other @ (Event::Connect { .. }
            | Event::Disconnect { .. }
            | Event::Ping { .. }
            | Event::Close { .. }
            | Event::Wake
            | Event::Fault(_)) => other,
        }
    }

    fn act(act: Act) -> Act {
        let shifted = |mut candidate: Candidate| {
            candidate.rename(&mut Self);
            candidate
        };
        match act {
            Act::RewriteCandidate(candidate) => Act::RewriteCandidate(shifted(candidate)),
            Act::DeleteCandidate(candidate) => Act::DeleteCandidate(shifted(candidate)),
            Act::AddMember { directory, key, address, epoch, owner } => {
                let epoch = epoch.map(|epoch| crate::Epoch(epoch.0 + 100));
                Act::AddMember { directory, key, address, epoch, owner }
            }
            Act::Wish(mut wish) => {
                wish.term.epoch.0 += 100;
                Act::Wish(wish)
            }
            other @ (Act::AddCandidate { .. }
            | Act::LitterQueue
            | Act::RewriteMember { .. }
            | Act::DeleteMember { .. }
            | Act::LitterDirectory(_)
            | Act::DeleteTerm
            | Act::SpoilTerm
            | Act::DeleteSettings
            | Act::SpoilWish
            | Act::DeleteWish) => other,
        }
    }
}

/// Replaces every number by its rank among those of its kind.
#[derive(Debug, Default)]
struct Ranks {
    client: Session,
    operations: BTreeSet<(Session, OpId)>,
    revisions: BTreeSet<u64>,
    sequences: BTreeSet<i64>,
}

/// Collects the numbers first, in a pass whose result is thrown away.
struct Collect<'a>(&'a mut Ranks);

impl Renamer for Collect<'_> {
    fn client(&mut self, session: Session) {
        self.0.client = session;
    }

    fn operation(&mut self, id: &mut OpId) {
        self.0.operations.insert((self.0.client, *id));
    }

    fn revision(&mut self, _: RevisionKind, revision: &mut u64) {
        self.0.revisions.insert(*revision);
    }

    fn sequence(&mut self, sequence: &mut i64) {
        self.0.sequences.insert(*sequence);
    }

    fn next_sequence(&mut self, next: &mut i64) {
        self.0.sequences.insert(*next);
    }
}

impl Renamer for Ranks {
    fn client(&mut self, session: Session) {
        self.client = session;
    }

    fn operation(&mut self, id: &mut OpId) {
        let rank = self.operations.range(..(self.client, *id)).count();
        id.sequence = u32::try_from(rank).expect("few operations");
    }

    fn revision(&mut self, _: RevisionKind, revision: &mut u64) {
        *revision = self.revisions.range(..*revision).count() as u64;
    }

    fn sequence(&mut self, sequence: &mut i64) {
        *sequence = i64::try_from(self.sequences.range(..*sequence).count()).expect("few candidates");
    }

    fn next_sequence(&mut self, next: &mut i64) {
        self.sequence(next);
    }
}

fn ranked(store: &Machine, now: Time) -> (Machine, Time) {
    let mut ranks = Ranks::default();
    let _ = store.canonical(now, &mut Collect(&mut ranks));
    store.canonical(now, &mut ranks)
}

proptest! {
    #[test]
    fn the_future_of_a_state_is_that_of_its_canonical_form(events in proptest::collection::vec(event(), 1..80)) {
        let mut world = World::new(2);
        for (delay, event) in events {
            let event = world.named(event);
            let (mut twin, mut twin_now) = world.store.canonical(world.now, &mut Shift);
            world.now = world.now + delay;
            twin_now = twin_now + delay;
            let mut twin_out = Vec::new();

            let out = world.event(event.clone());
            twin.handle(twin_now, Shift::event(event), &mut twin_out);

            prop_assert_eq!(ranked(&world.store, world.now), ranked(&twin, twin_now));
            let kinds = |out: &[Output]| out.iter().map(core::mem::discriminant).collect::<Vec<_>>();
            prop_assert_eq!(kinds(&out), kinds(&twin_out));
        }
    }
}

#[test]
fn a_cut_undoes_the_last_contact_in_the_canonical_form_too() {
    let mut world = World::new(2);
    let a = world.open("a", A);
    for _ in 0..2 {
        world.pass(Duration::from_secs(4));
        world.event(Event::Ping { session: a });
    }
    let (mut twin, twin_now) = world.store.canonical(world.now, &mut Shift);
    assert_eq!(ranked(&world.store, world.now), ranked(&twin, twin_now));

    world.fault(Fault::Cut(A));
    twin.handle(twin_now, Event::Fault(Fault::Cut(A)), &mut Vec::new());

    assert_eq!(ranked(&world.store, world.now), ranked(&twin, twin_now));
    let left = |store: &Machine, now: Time| store.next_deadline().map(|deadline| deadline.since(now));
    assert_eq!(left(&twin, twin_now), left(&world.store, world.now));
}

#[test]
fn a_leader_that_only_beats_comes_back_to_the_same_state() {
    let mut world = World::new(2);
    let (a, b) = (world.open("a", A), world.open("b", B));
    let candidate = world.enter(a, 1);
    let incarnation = crate::Incarnation(1);
    world.ask(a, Request::Queue(QueueRequest::Claim { candidate, incarnation, create: true }));
    let mut round = || {
        world.pass(Duration::from_secs(1));
        for session in [a, b] {
            assert_eq!(
                world.ask(session, Request::Queue(QueueRequest::Beat { candidate })),
                Answer::Done(Reply::Queue(QueueReply::Beaten))
            );
        }
        for session in [a, b] {
            world.watch(session, candidate);
        }
        ranked(&world.store, world.now)
    };
    // Two rounds make one tick.
    let first = [round(), round()];
    let later = [round(), round()];
    assert_eq!(first, later);
}

/// A store that keeps a lease, to which one client is connected, and the client's first attempt.
fn with_a_lease() -> (Machine, Event) {
    let mut machine = Machine::with_lease(Timing::unbounded(Duration::ZERO));
    let client = Client { id: "a".into(), address: "a:1".into(), metadata: Default::default() };
    let connect = Event::Connect { server: Server(0), client, previous: None, timeout: LEASE };
    machine.handle(Time::from_millis(5_000), connect, &mut Vec::new());
    let id = OpId { link: Link(1), slot: Slot::Election, sequence: 1 };
    let (token, incarnation) = (crate::Token(7), crate::Incarnation(7));
    let acquire = crate::store::LeaseRequest::Acquire { token, ttl: LEASE, incarnation };
    (machine, Event::Request { session: Session(1), id, request: Request::Lease(acquire) })
}

const LEASE: Duration = Duration::from_secs(2);

/// A lease goes on in the canonical state as in the real one: nothing more of it has passed, and nothing less passes.
#[test]
fn the_end_of_a_lease_stays_as_far_away() {
    let (mut machine, acquire) = with_a_lease();
    let (session, mut out) = (Session(1), Vec::new());
    machine.handle(Time::from_millis(5_100), acquire, &mut out);
    machine.handle(Time::from_millis(5_200), Event::Fault(Fault::Step { millis: -3_600_000 }), &mut out);
    machine.handle(Time::from_millis(5_200), Event::Ping { session }, &mut out);

    let now = Time::from_millis(5_300);
    let (mut canonical, mut place) = machine.canonical(now, &mut Shift);
    let mut at = now;
    for _ in 0..4 {
        machine.handle(at, Event::Ping { session }, &mut out);
        canonical.handle(place, Event::Ping { session }, &mut out);
        let left = |machine: &Machine| machine.lease().map(|holding| holding.left);
        assert!(left(&machine).is_some() && left(&machine) == left(&canonical), "{machine:?} and {canonical:?}");
        (at, place) = (at + LEASE / 6, place + LEASE / 6);
    }
}

/// A store that is older than every lease still is when nobody has asked for one yet.
#[test]
fn a_store_that_is_open_stays_open() {
    let (machine, acquire) = with_a_lease();
    let (mut canonical, now) = machine.canonical(Time::from_millis(5_100), &mut Shift);
    canonical.handle(now, acquire, &mut Vec::new());
    assert!(canonical.lease().is_some(), "{canonical:?}");
}
