//! The canonical form: another name for the same state.

use alloc::collections::BTreeSet;

use proptest::prelude::*;

use super::arbitrary::event;
use super::*;
use crate::store::Renaming;

/// Every number is greater by a fixed amount.
struct Shift;

impl Renaming for Shift {
    fn operation(&mut self, _: Session, id: OpId) -> OpId {
        OpId { sequence: id.sequence + 1000, ..id }
    }

    fn revision(&mut self, revision: u64) -> u64 {
        revision + 100
    }

    fn sequence(&mut self, sequence: i32) -> i32 {
        sequence + 10
    }

    fn session(&mut self, session: Session) -> Session {
        session
    }
}

impl Shift {
    fn event(event: Event) -> Event {
        match event {
            Event::Request { session, id, request } => {
                Event::Request { session, id: Self.operation(session, id), request: Self::request(request) }
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

    fn request(mut request: Request) -> Request {
        crate::store::canonical::rename_request(&mut request, &mut Self);
        request
    }

    fn act(act: Act) -> Act {
        let shifted = |candidate: Candidate| Candidate { sequence: Self.sequence(candidate.sequence), ..candidate };
        match act {
            Act::RewriteCandidate(candidate) => Act::RewriteCandidate(shifted(candidate)),
            Act::DeleteCandidate(candidate) => Act::DeleteCandidate(shifted(candidate)),
            Act::AddMember { directory, key, address, epoch, owner } => {
                let epoch = epoch.map(|epoch| crate::Epoch(Self.revision(epoch.0)));
                Act::AddMember { directory, key, address, epoch, owner }
            }
            other @ (Act::AddCandidate { .. }
            | Act::LitterQueue
            | Act::RewriteMember { .. }
            | Act::DeleteMember { .. }
            | Act::LitterDirectory(_)
            | Act::DeleteTerm) => other,
        }
    }
}

/// Every number is replaced by its rank among those of its kind.
#[derive(Debug, Default)]
struct Ranks {
    operations: BTreeSet<(Session, OpId)>,
    revisions: BTreeSet<u64>,
    sequences: BTreeSet<i32>,
}

/// Collects first, in a pass whose result is thrown away.
struct Collect<'a>(&'a mut Ranks);

impl Renaming for Collect<'_> {
    fn operation(&mut self, session: Session, id: OpId) -> OpId {
        self.0.operations.insert((session, id));
        id
    }

    fn revision(&mut self, revision: u64) -> u64 {
        self.0.revisions.insert(revision);
        revision
    }

    fn sequence(&mut self, sequence: i32) -> i32 {
        self.0.sequences.insert(sequence);
        sequence
    }

    fn session(&mut self, session: Session) -> Session {
        session
    }
}

impl Renaming for Ranks {
    fn operation(&mut self, session: Session, id: OpId) -> OpId {
        let rank = self.operations.range(..(session, id)).count();
        OpId { sequence: u32::try_from(rank).expect("few operations"), ..id }
    }

    fn revision(&mut self, revision: u64) -> u64 {
        self.revisions.range(..revision).count() as u64
    }

    fn sequence(&mut self, sequence: i32) -> i32 {
        i32::try_from(self.sequences.range(..sequence).count()).expect("few candidates")
    }

    fn session(&mut self, session: Session) -> Session {
        session
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
    world.ask(a, Request::Claim { candidate, incarnation, create: true });
    let mut round = || {
        world.pass(Duration::from_secs(1));
        for session in [a, b] {
            assert_eq!(world.ask(session, Request::Beat { candidate }), Answer::Done(Reply::Beaten));
        }
        for session in [a, b] {
            world.watch(session, candidate);
        }
        ranked(&world.store, world.now)
    };
    // Two rounds are one tick.
    let first = [round(), round()];
    let later = [round(), round()];
    assert_eq!(first, later);
}
