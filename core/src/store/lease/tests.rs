//! Stories of the lease. Each second is a call, unless the story says otherwise.

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use super::{Caller, LeaseMachine, Life, Reading};
use crate::store::{Answer, LeaseReply, LeaseRequest, Refusal, Reply};
use crate::{Epoch, Fence, Incarnation, Session, Time, Token};

const TTL: Duration = Duration::from_secs(8);
const FIRST: Life = Life { run: 1, history: 1 };

struct World {
    store: LeaseMachine,
    wall: u64,
    life: Life,
    notified: Vec<Session>,
}

impl World {
    /// A store whose first life is older than every lease.
    fn new() -> Self {
        let mut world = Self { store: LeaseMachine::default(), wall: 100_000, life: FIRST, notified: Vec::new() };
        world.acquire_for(9, 99, TTL * 2);
        world.pass(16);
        world
    }

    fn ask(&mut self, session: u64, request: &LeaseRequest) -> Answer {
        let reading = Reading { wall: Time::from_millis(self.wall * 1_000), life: self.life };
        let caller = Caller { session: Session(session), id: "node".into(), timeout: TTL };
        self.store.handle(reading, &caller, request, &mut self.notified)
    }

    /// Time in which somebody reads every second.
    fn pass(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.wall += 1;
            self.ask(9, &LeaseRequest::Peek { watch: false });
        }
    }

    fn acquire(&mut self, session: u64, token: u64) -> Answer {
        self.acquire_for(session, token, TTL)
    }

    fn acquire_for(&mut self, session: u64, token: u64, ttl: Duration) -> Answer {
        self.ask(session, &LeaseRequest::Acquire { token: Token(token), ttl, incarnation: Incarnation(session) })
    }

    fn renew(&mut self, token: u64) -> Answer {
        self.ask(1, &LeaseRequest::Renew { token: Token(token), ttl: TTL })
    }

    fn release(&mut self, token: u64) -> Answer {
        self.ask(1, &LeaseRequest::Release { token: Token(token) })
    }

    fn holder(&self) -> Option<Token> {
        self.store.holder().map(|holding| holding.token)
    }
}

fn acquired(incarnation: u64, epoch: u64) -> Answer {
    let fence = Fence { incarnation: Incarnation(incarnation), epoch: Epoch(epoch) };
    Answer::Done(Reply::Lease(LeaseReply::Acquired(fence)))
}

fn closed(seconds: u64) -> Answer {
    Answer::Done(Reply::Lease(LeaseReply::Closed { left: Duration::from_secs(seconds) }))
}

const LOST: Answer = Answer::Refused(Refusal::LeaseLost);

#[test]
fn only_a_free_lease_is_taken_and_each_term_has_a_higher_epoch() {
    let mut world = World::new();
    assert_eq!(world.acquire(1, 10), acquired(1, 1));
    world.acquire(2, 20);
    assert_eq!(world.holder(), Some(Token(10)));
    world.pass(8);
    assert_eq!(world.acquire(2, 20), acquired(1, 2));
}

/// L-B53, L-B31: a heartbeat that is late neither prolongs a rival's lease nor makes one again.
#[test]
fn a_late_renewal_neither_prolongs_a_rivals_lease_nor_takes_a_free_one() {
    let mut world = World::new();
    world.acquire(1, 10);
    world.pass(8);
    assert_eq!(world.renew(10), LOST);
    assert_eq!(world.holder(), None);
    world.acquire(2, 20);
    world.pass(4);
    assert_eq!(world.renew(10), LOST);
    world.pass(4);
    assert_eq!(world.holder(), None);
}

/// L-B22, L-B23: who releases late does not wipe the lease of the next holder.
#[test]
fn a_late_release_leaves_the_next_holder_its_lease() {
    let mut world = World::new();
    world.acquire(1, 10);
    world.pass(8);
    world.acquire(2, 20);
    assert_eq!(world.release(10), LOST);
    assert_eq!(world.holder(), Some(Token(20)));
}

/// L-B35: the second attempt of one node meets the lease that its first one took unheard.
#[test]
fn an_own_lease_that_was_taken_unheard_is_seen_by_its_token() {
    let mut world = World::new();
    world.acquire(1, 10);
    world.acquire(1, 11);
    assert_eq!(world.holder(), Some(Token(10)));
    world.release(10);
    assert_eq!(world.acquire(1, 12), acquired(1, 2));
}

/// L-B51: a time to live of zero would end the lease that it prolongs.
#[test]
fn a_time_to_live_of_zero_is_refused_and_changes_nothing() {
    let mut world = World::new();
    world.acquire(1, 10);
    let none = Duration::ZERO;
    let refused = world.ask(1, &LeaseRequest::Renew { token: Token(10), ttl: none });
    assert_eq!(refused, Answer::Refused(Refusal::Denied));
    assert_eq!(world.holder(), Some(Token(10)));
    world.release(10);
    assert_eq!(world.acquire_for(1, 11, none), Answer::Refused(Refusal::Denied));
    assert_eq!(world.holder(), None);
}

#[test]
fn a_step_of_the_wall_clock_by_an_hour_costs_a_lease_a_quarter_at_most() {
    let mut world = World::new();
    world.acquire(1, 10);
    world.wall += 3_600;
    world.ask(9, &LeaseRequest::Peek { watch: false });
    world.pass(5);
    assert_eq!(world.holder(), Some(Token(10)));
    world.pass(1);
    assert_eq!(world.holder(), None);
}

#[test]
fn a_step_back_by_an_hour_keeps_a_lease_no_longer_than_the_time_between_two_calls() {
    let mut world = World::new();
    world.acquire(1, 10);
    world.wall -= 3_600;
    world.pass(8);
    assert_eq!(world.holder(), Some(Token(10)));
    world.pass(1);
    assert_eq!(world.holder(), None);
}

/// L-B50: a promoted replica may lack the lease that a leader still counts on.
#[test]
fn after_a_promotion_nobody_leads_before_the_longest_lease_has_passed() {
    let mut world = World::new();
    world.acquire_for(1, 10, TTL * 2);
    world.release(10);
    world.life.history = 2;
    assert_eq!(world.acquire(2, 20), closed(16));
    world.pass(15);
    assert_eq!(world.acquire(2, 20), closed(1));
    world.pass(1);
    assert_eq!(world.acquire(2, 20), acquired(2, 2));
}

/// L-B50: a store that restarts empty knows of no lease, so the one that is asked for has to do.
#[test]
fn after_a_restart_without_data_nobody_leads_before_the_lease_asked_for_has_passed() {
    let mut world = World::new();
    world.acquire(1, 10);
    world.store = LeaseMachine::default();
    world.life.run = 2;
    assert_eq!(world.acquire(2, 20), closed(8));
    assert_eq!(world.renew(10), LOST);
    world.pass(8);
    assert_eq!(world.acquire(2, 20), acquired(2, 1));
}

#[test]
fn a_watch_fires_once_when_the_lease_is_released_or_its_session_ends() {
    let mut world = World::new();
    world.acquire(1, 10);
    world.ask(2, &LeaseRequest::Peek { watch: true });
    world.release(10);
    assert_eq!(world.notified, vec![Session(2)]);
    world.acquire(1, 11);
    world.ask(3, &LeaseRequest::Peek { watch: true });
    world.store.end_session(Session(1));
    assert_eq!(world.holder(), Some(Token(11)), "whoever was not heard may lead until the lease ends");
    world.store.close_session(Session(1), &mut world.notified);
    assert_eq!(world.notified, vec![Session(2), Session(3)]);
    assert_eq!(world.holder(), None);
}
