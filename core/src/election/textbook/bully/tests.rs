//! Each rule of the paper, and what happens where its assumptions do not hold.

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use super::super::{Broken, Config, Contender, Envelope, Event, Peer, Timer};
use super::{Bully, Call, Message, Status};
use crate::Time;

const NODES: u8 = 4;

struct Driven {
    node: Bully,
    now: Time,
}

impl Driven {
    fn new(me: u8) -> Self {
        Self { node: Bully::new(Config::new(Peer(me), NODES)), now: Time::from_millis(1_000) }
    }

    fn started(me: u8) -> Self {
        let mut driven = Self::new(me);
        driven.give(Event::Start);
        driven
    }

    /// A node that leads all the others.
    fn leading(me: u8) -> Self {
        let mut driven = Self::started(me);
        driven.wake();
        for _ in 0..3 {
            driven.all_answer(0..me);
        }
        assert!(driven.node.is_coordinator());
        driven
    }

    /// A node that works for another.
    fn following(me: u8, leader: u8) -> Self {
        let mut driven = Self::started(me);
        driven.calls(leader, [Call::Halt, Call::NewCoordinator, Call::Ready]);
        assert_eq!((driven.node.status, driven.node.coordinator), (Status::Normal, Some(Peer(leader))));
        driven
    }

    fn give(&mut self, event: Event<Message>) -> Vec<Envelope<Message>> {
        let mut out = Vec::new();
        self.node.handle(self.now, event, &mut out);
        assert_eq!(self.node.check(), Ok(()));
        out
    }

    fn call(&mut self, from: u8, call: Call) -> Vec<Envelope<Message>> {
        self.give(Event::Received { from: Peer(from), message: Message::Call { call, round: 77 } })
    }

    fn calls(&mut self, from: u8, calls: impl IntoIterator<Item = Call>) {
        for call in calls {
            self.call(from, call);
        }
    }

    fn answer(&mut self, from: u8, to: Call, yes: bool) -> Vec<Envelope<Message>> {
        let message = Message::Return { to, round: self.node.round, yes };
        self.give(Event::Received { from: Peer(from), message })
    }

    fn all_answer(&mut self, peers: impl IntoIterator<Item = u8>) {
        peers.into_iter().for_each(|peer| drop(self.answer(peer, Call::Halt, true)));
    }

    /// Lets time pass until the next deadline.
    fn wake(&mut self) -> Vec<Envelope<Message>> {
        self.now = self.now.max(self.node.next_deadline().expect("it always has one").0);
        self.give(Event::Wake)
    }
}

fn called(out: &[Envelope<Message>]) -> Vec<(u8, Call)> {
    out.iter()
        .filter_map(|envelope| match envelope.message {
            Message::Call { call, .. } => Some((envelope.to.0, call)),
            Message::Return { .. } => None,
        })
        .collect()
}

#[test]
fn a_node_that_starts_asks_those_above_it() {
    let mut driven = Driven::new(1);
    assert_eq!(called(&driven.give(Event::Start)), [(2, Call::AreYouThere), (3, Call::AreYouThere)]);
}

#[test]
fn it_leaves_the_election_to_a_higher_node_that_answers() {
    let mut driven = Driven::started(1);
    assert!(driven.answer(3, Call::AreYouThere, true).is_empty());
    assert_eq!(driven.node.next_deadline().map(|(_, why)| why), Some(Timer::Silence));
    assert_eq!(called(&driven.wake()), [(2, Call::AreYouThere), (3, Call::AreYouThere)], "nobody has won meanwhile");
}

#[test]
fn it_halts_those_below_it_if_no_higher_node_answers_in_time() {
    let mut driven = Driven::started(2);
    assert_eq!(called(&driven.wake()), [(0, Call::Halt), (1, Call::Halt)]);
}

#[test]
fn the_highest_node_asks_nobody() {
    assert_eq!(called(&Driven::new(3).give(Event::Start)), [(0, Call::Halt), (1, Call::Halt), (2, Call::Halt)]);
}

#[test]
fn it_leads_once_all_that_halted_know_it_and_have_their_task() {
    let mut driven = Driven::started(2);
    driven.wake();
    driven.answer(0, Call::Halt, true);
    assert_eq!(called(&driven.wake()), [(0, Call::NewCoordinator)], "node 1 is down");
    assert_eq!(driven.node.leads_until(), None);
    assert_eq!(called(&driven.answer(0, Call::NewCoordinator, true)), [(0, Call::Ready)]);
    assert_eq!(driven.node.leads_until(), None);
    driven.answer(0, Call::Ready, true);
    assert_eq!(driven.node.leads_until(), Some(Time::MAX));
}

#[test]
fn an_election_in_which_someone_goes_silent_is_held_again() {
    let mut driven = Driven::started(2);
    driven.wake();
    driven.all_answer([0, 1]);
    driven.answer(0, Call::NewCoordinator, true);
    assert_eq!(called(&driven.wake()), [(3, Call::AreYouThere)]);
}

#[test]
fn a_halted_node_works_only_for_the_one_that_halted_it() {
    let mut driven = Driven::started(0);
    driven.calls(2, [Call::Halt]);
    driven.calls(1, [Call::NewCoordinator, Call::Ready]);
    assert_eq!(driven.node.status, Status::Election);
    driven.calls(2, [Call::NewCoordinator]);
    assert_eq!(driven.node.status, Status::Reorganization);
    driven.calls(2, [Call::Ready]);
    assert_eq!((driven.node.status, driven.node.coordinator), (Status::Normal, Some(Peer(2))));
}

#[test]
fn a_coordinator_that_is_halted_leads_no_more() {
    let mut driven = Driven::leading(2);
    driven.calls(3, [Call::Halt]);
    assert_eq!(driven.node.leads_until(), None);
}

#[test]
fn every_call_is_answered_at_once() {
    let mut driven = Driven::following(1, 3);
    let mut answer = |call| match driven.call(0, call).as_slice() {
        [Envelope { to: Peer(0), message: Message::Return { yes, round: 77, .. } }] => *yes,
        other => panic!("{other:?}"),
    };
    assert!(answer(Call::AreYouThere) && answer(Call::AreYouNormal) && answer(Call::NewCoordinator));
    assert!(answer(Call::Halt) && !answer(Call::AreYouNormal), "a halted node is not normal");
}

#[test]
fn a_silent_coordinator_is_asked_before_an_election_is_called() {
    let mut driven = Driven::following(1, 3);
    assert_eq!(called(&driven.wake()), [(3, Call::AreYouThere)]);
    driven.answer(3, Call::AreYouThere, true);
    assert_eq!(called(&driven.wake()), [(3, Call::AreYouThere)], "it was there, and is asked again later");
    assert_eq!(called(&driven.wake()), [(2, Call::AreYouThere), (3, Call::AreYouThere)]);
}

#[test]
fn a_node_that_recovers_makes_its_coordinator_call_an_election() {
    let mut driven = Driven::leading(2);
    assert_eq!(called(&driven.wake()), [0, 1, 3].map(|peer| (peer, Call::AreYouNormal)));
    driven.answer(1, Call::AreYouNormal, true);
    assert_eq!(called(&driven.answer(0, Call::AreYouNormal, false)), [(3, Call::AreYouThere)]);
}

#[test]
fn a_node_that_does_not_say_that_it_is_normal_is_down_which_concerns_nobody() {
    let mut driven = Driven::leading(2);
    driven.wake();
    assert!(driven.wake().is_empty());
    assert!(driven.node.is_coordinator());
}

#[test]
fn an_answer_that_comes_after_its_round_counts_for_nothing() {
    let mut driven = Driven::started(2);
    let late = Message::Return { to: Call::AreYouThere, round: driven.node.round, yes: true };
    driven.wake();
    let before = driven.node.clone();
    assert!(driven.give(Event::Received { from: Peer(3), message: late }).is_empty());
    assert_eq!(driven.node, before);
}

#[test]
fn two_coordinators_find_each_other_normal_for_ever() {
    // The paper's assumptions 8 and 9 exclude this: one of them was paused, or cut off, while the other was elected.
    let (mut old, mut new) = (Driven::leading(3), Driven::leading(2));
    for _ in 0..3 {
        check_one(&mut old, &mut new);
        check_one(&mut new, &mut old);
        assert!(old.node.is_coordinator() && new.node.is_coordinator());
    }
}

/// The check of one coordinator, which only one other node answers.
fn check_one(asker: &mut Driven, asked: &mut Driven) {
    let (me, other) = (asker.node.config.me, asked.node.config.me);
    let calls = asker.wake();
    for call in calls.into_iter().filter(|call| call.to == other) {
        for answer in asked.give(Event::Received { from: me, message: call.message }) {
            asker.give(Event::Received { from: other, message: answer.message });
        }
    }
    asker.wake();
}

#[test]
fn a_wake_that_comes_early_or_twice_does_nothing() {
    for mut driven in [Driven::started(1), Driven::leading(2), Driven::following(0, 3)] {
        let before = driven.node.clone();
        assert_eq!((driven.give(Event::Wake), driven.node), (vec![], before));
    }
}

#[test]
fn a_coordinator_that_does_not_exist_is_noticed() {
    let mut node = Bully::new(Config::new(Peer(0), NODES));
    node.coordinator = Some(Peer(NODES));
    assert_eq!(node.check(), Err(Broken::UnknownLeader(Peer(NODES))));
    (node.status, node.coordinator) = (Status::Normal, Some(Peer(0)));
    assert_eq!(node.check(), Err(Broken::LeadsWithoutRight), "nobody has halted");
}

#[test]
fn a_restarted_process_remembers_nothing_but_counts_other_rounds() {
    let driven = Driven::leading(2);
    let again = driven.node.restarted(1 << 40);
    assert_eq!(again.leads_until(), None);
    assert_eq!(again.next_deadline(), Some((Time::ZERO + Duration::from_secs(10), Timer::Silence)));
}
