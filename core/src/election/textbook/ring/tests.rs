//! Each rule of the paper and beyond it, and what happens where its assumptions do not hold.

use alloc::vec;
use alloc::vec::Vec;

use super::super::{Broken, Config, Contender, Envelope, Event, Peer, Timer};
use super::{Message, Ring, Word};
use crate::Time;

const NODES: u8 = 4;

struct Driven {
    node: Ring,
    now: Time,
}

impl Driven {
    fn started(me: u8) -> Self {
        let mut driven = Self { node: Ring::new(Config::new(Peer(me), NODES)), now: Time::from_millis(1_000) };
        driven.give(Event::Start);
        driven.taken();
        driven
    }

    fn give(&mut self, event: Event<Message>) -> Vec<Envelope<Message>> {
        let mut out = Vec::new();
        self.node.handle(self.now, event, &mut out);
        assert_eq!(self.node.check(), Ok(()));
        out
    }

    /// A word arrives. Returns the words that this node sends, with their receivers.
    fn hear(&mut self, word: Word) -> Vec<(u8, Word)> {
        let message = Message::Pass { number: 7, word, hops_left: NODES };
        words(&self.give(Event::Received { from: Peer(0), message }))
    }

    /// The next node takes everything.
    fn taken(&mut self) {
        for hop in self.node.hops.clone() {
            let message = Message::Taken { number: hop.number, word: hop.word };
            self.give(Event::Received { from: hop.to, message });
        }
    }

    fn wake(&mut self) -> Vec<(u8, Word)> {
        self.now = self.now.max(self.node.next_deadline().expect("it always has one").0);
        words(&self.give(Event::Wake))
    }
}

fn words(out: &[Envelope<Message>]) -> Vec<(u8, Word)> {
    out.iter()
        .filter_map(|envelope| match envelope.message {
            Message::Pass { word, .. } => Some((envelope.to.0, word)),
            Message::Taken { .. } => None,
        })
        .collect()
}

#[test]
fn a_node_that_starts_sends_its_number_to_the_next() {
    for (me, next) in [(0, 1), (3, 0)] {
        let mut node = Ring::new(Config::new(Peer(me), NODES));
        let mut out = Vec::new();
        node.handle(Time::ZERO, Event::Start, &mut out);
        assert_eq!(words(&out), [(next, Word::Candidate(Peer(me)))]);
    }
}

#[test]
fn a_higher_number_is_passed_on_and_a_lower_one_thrown_away() {
    let mut driven = Driven::started(1);
    assert_eq!(driven.hear(Word::Candidate(Peer(3))), [(2, Word::Candidate(Peer(3)))]);
    assert_eq!(driven.hear(Word::Candidate(Peer(0))), []);
}

#[test]
fn a_node_that_has_not_sent_its_number_does_so_when_it_throws_a_lower_one_away() {
    let mut driven = Driven::started(1);
    driven.hear(Word::Elected(Peer(3)));
    assert_eq!(driven.hear(Word::Candidate(Peer(0))), [(2, Word::Candidate(Peer(1)))]);
}

#[test]
fn a_node_whose_number_comes_back_leads_and_tells_all() {
    let mut driven = Driven::started(2);
    assert_eq!(driven.hear(Word::Candidate(Peer(2))), [(3, Word::Elected(Peer(2)))]);
    assert_eq!(driven.node.leads_until(), Some(Time::MAX));
}

#[test]
fn the_result_is_passed_on_until_it_is_back() {
    let mut driven = Driven::started(1);
    assert_eq!(driven.hear(Word::Elected(Peer(3))), [(2, Word::Elected(Peer(3)))]);
    assert_eq!(driven.node.leader, Some(Peer(3)));
    let mut leader = Driven::started(3);
    leader.hear(Word::Candidate(Peer(3)));
    leader.taken();
    assert_eq!(leader.hear(Word::Elected(Peer(3))), []);
}

#[test]
fn every_message_is_taken_at_once() {
    let mut driven = Driven::started(1);
    let word = Word::Candidate(Peer(0));
    let out = driven.give(Event::Received { from: Peer(0), message: Message::Pass { number: 9, word, hops_left: 2 } });
    assert_eq!(out, [Envelope { to: Peer(0), message: Message::Taken { number: 9, word } }]);
}

#[test]
fn a_word_ends_after_one_round() {
    let mut driven = Driven::started(1);
    let message = Message::Pass { number: 7, word: Word::Candidate(Peer(3)), hops_left: 1 };
    assert_eq!(words(&driven.give(Event::Received { from: Peer(0), message })), []);
}

#[test]
fn a_node_that_does_not_take_a_message_is_skipped() {
    let mut driven = Driven::started(1);
    driven.hear(Word::Elected(Peer(3)));
    assert_eq!(driven.wake(), [(3, Word::Elected(Peer(3)))]);
    driven.taken();
    assert_eq!(driven.hear(Word::Alive(Peer(3))), [(3, Word::Alive(Peer(3)))], "it is not tried again so soon");
}

#[test]
fn a_skipped_node_that_is_heard_of_is_on_the_ring_again() {
    let mut driven = Driven::started(1);
    driven.hear(Word::Elected(Peer(3)));
    driven.wake();
    driven.taken();
    let taken = Message::Taken { number: 0, word: Word::Alive(Peer(3)) };
    driven.give(Event::Received { from: Peer(2), message: taken });
    assert_eq!(driven.hear(Word::Alive(Peer(3))), [(2, Word::Alive(Peer(3)))]);
}

#[test]
fn a_skipped_node_is_tried_again_after_a_silence() {
    let mut driven = Driven::started(1);
    driven.hear(Word::Elected(Peer(3)));
    driven.wake();
    driven.taken();
    driven.now = driven.now + driven.node.config.silence;
    assert_eq!(driven.hear(Word::Alive(Peer(3))), [(2, Word::Alive(Peer(3)))]);
}

#[test]
fn a_node_that_nobody_hears_elects_itself() {
    let mut driven = Driven::started(0);
    driven.now = driven.node.next_deadline().expect("it waits").0;
    let mut sent = words(&driven.give(Event::Wake));
    assert_eq!(sent, [(1, Word::Candidate(Peer(0)))]);
    for next in [2, 3] {
        sent = driven.wake();
        assert_eq!(sent, [(next, Word::Candidate(Peer(0)))]);
    }
    driven.wake();
    assert_eq!(driven.node.leads_until(), Some(Time::MAX));
}

#[test]
fn a_leader_shows_that_it_lives_and_its_silence_leads_to_an_election() {
    let mut leader = Driven::started(2);
    leader.hear(Word::Candidate(Peer(2)));
    leader.taken();
    assert_eq!(leader.wake(), [(3, Word::Alive(Peer(2)))]);

    let mut other = Driven::started(1);
    other.hear(Word::Elected(Peer(3)));
    other.taken();
    let heard = other.now;
    assert_eq!(other.node.next_deadline(), Some((heard + other.node.config.silence, Timer::Silence)));
    assert_eq!(other.wake(), [(2, Word::Candidate(Peer(1)))]);
}

#[test]
fn a_higher_leader_takes_over_and_a_lower_one_is_contradicted() {
    let mut leader = Driven::started(2);
    leader.hear(Word::Candidate(Peer(2)));
    leader.hear(Word::Alive(Peer(3)));
    assert_eq!(leader.node.leads_until(), None);
    leader.taken();
    assert_eq!(leader.hear(Word::Alive(Peer(0))), [(3, Word::Candidate(Peer(2)))], "it was not seen in that election");
}

#[test]
fn the_old_leader_leads_on_until_the_result_reaches_it() {
    let mut old = Driven::started(2);
    old.hear(Word::Candidate(Peer(2)));
    let mut new = Driven::started(3);
    old.hear(Word::Candidate(Peer(3)));
    new.hear(Word::Candidate(Peer(3)));
    assert!(old.node.is_leader() && new.node.is_leader(), "both lead until the result has come round");
    old.hear(Word::Elected(Peer(3)));
    assert!(!old.node.is_leader());
}

#[test]
fn a_wake_that_comes_early_or_twice_does_nothing() {
    let mut driven = Driven::started(1);
    let before = driven.node.clone();
    assert_eq!((driven.give(Event::Wake), driven.node), (vec![], before));
}

#[test]
fn a_leader_that_does_not_exist_is_noticed() {
    let mut node = Ring::new(Config::new(Peer(0), NODES));
    node.leader = Some(Peer(NODES));
    assert_eq!(node.check(), Err(Broken::UnknownLeader(Peer(NODES))));
}
