//! Each rule of the paper and the thesis, and what happens where they promise nothing.

use alloc::vec;
use alloc::vec::Vec;

use super::super::{Broken, Config, Contender, Envelope, Event, Peer, Timer};
use super::{Disk, Message, Raft, Role};
use crate::Time;

const NODES: u8 = 5;

struct Driven {
    node: Raft,
    now: Time,
}

impl Driven {
    fn started(me: u8) -> Self {
        let mut driven = Self { node: Raft::new(Config::new(Peer(me), NODES)), now: Time::from_millis(1_000) };
        assert!(driven.give(Event::Start).is_empty(), "it begins as a follower");
        driven
    }

    /// A node that leads its first term.
    fn leading(me: u8) -> Self {
        let mut driven = Self::started(me);
        driven.wake();
        [0, 1].into_iter().for_each(|voter| {
            drop(driven.receive((me + 1 + voter) % NODES, Message::PreVote { term: 1, granted: true }))
        });
        [0, 1]
            .into_iter()
            .for_each(|voter| drop(driven.receive((me + 1 + voter) % NODES, Message::Vote { term: 1, granted: true })));
        assert!(driven.node.is_leader());
        driven
    }

    fn give(&mut self, event: Event<Message>) -> Vec<Envelope<Message>> {
        let mut out = Vec::new();
        self.node.handle(self.now, event, &mut out);
        assert_eq!(self.node.check(), Ok(()));
        out
    }

    fn receive(&mut self, from: u8, message: Message) -> Vec<Message> {
        let out = self.give(Event::Received { from: Peer(from), message });
        out.into_iter().map(|envelope| envelope.message).collect()
    }

    fn wake(&mut self) -> Vec<Envelope<Message>> {
        self.now = self.now.max(self.node.next_deadline().expect("it always has one").0);
        self.give(Event::Wake)
    }
}

fn to_all(me: u8, message: Message) -> Vec<Envelope<Message>> {
    (0..NODES).filter(|to| *to != me).map(|to| Envelope { to: Peer(to), message }).collect()
}

#[test]
fn a_follower_that_hears_of_no_leader_asks_for_promises_in_the_next_term_which_it_does_not_enter() {
    let mut driven = Driven::started(2);
    assert_eq!(driven.wake(), to_all(2, Message::AskPreVote { term: 1 }));
    assert_eq!(driven.node.term(), 0);
}

#[test]
fn with_the_promises_of_a_majority_it_enters_the_term_and_asks_for_votes() {
    let mut driven = Driven::started(2);
    driven.wake();
    assert!(driven.receive(0, Message::PreVote { term: 1, granted: true }).is_empty());
    assert!(driven.receive(0, Message::PreVote { term: 1, granted: true }).is_empty(), "the same promise again");
    assert_eq!(driven.receive(1, Message::PreVote { term: 1, granted: true }), [Message::AskVote { term: 1 }; 4]);
    assert_eq!(driven.node.disk, Disk { term: 1, voted_for: Some(Peer(2)) });
}

#[test]
fn a_vote_is_promised_only_by_those_who_have_heard_of_no_leader_for_the_shortest_timeout() {
    let mut driven = Driven::started(1);
    assert_eq!(driven.receive(2, Message::AskPreVote { term: 1 }), [Message::PreVote { term: 1, granted: true }]);
    driven.receive(0, Message::Heartbeat { term: 1 });
    assert_eq!(driven.receive(2, Message::AskPreVote { term: 2 }), [Message::PreVote { term: 1, granted: false }]);
    driven.now = driven.now + driven.node.config.silence;
    assert_eq!(driven.receive(2, Message::AskPreVote { term: 2 }), [Message::PreVote { term: 2, granted: true }]);
    assert_eq!(driven.receive(2, Message::AskPreVote { term: 0 }), [Message::PreVote { term: 1, granted: false }]);
    assert_eq!(driven.node.disk, Disk { term: 1, voted_for: None }, "a promise binds nobody");
}

#[test]
fn a_node_that_was_cut_off_does_not_disturb_the_leader_when_it_comes_back() {
    let (mut back, mut leader) = (Driven::started(2), Driven::leading(0));
    for _ in 0..5 {
        back.wake();
    }
    assert_eq!(back.node.term(), 0);
    let answer = leader.receive(2, Message::AskPreVote { term: 1 });
    assert_eq!(answer, [Message::PreVote { term: 1, granted: false }]);
    assert!(leader.node.is_leader());
    back.receive(0, answer[0]);
    assert_eq!((back.node.term(), &back.node.role), (1, &Role::Follower), "it learns the term");
}

#[test]
fn a_node_votes_once_a_term_for_the_first_that_asks() {
    let mut driven = Driven::started(1);
    assert_eq!(driven.receive(2, Message::AskVote { term: 1 }), [Message::Vote { term: 1, granted: true }]);
    assert_eq!(driven.receive(3, Message::AskVote { term: 1 }), [Message::Vote { term: 1, granted: false }]);
    assert_eq!(driven.receive(2, Message::AskVote { term: 1 }), [Message::Vote { term: 1, granted: true }]);
    assert_eq!(driven.receive(3, Message::AskVote { term: 2 }), [Message::Vote { term: 2, granted: true }]);
    assert_eq!(driven.receive(4, Message::AskVote { term: 1 }), [Message::Vote { term: 2, granted: false }]);
}

#[test]
fn the_vote_is_kept_on_disk() {
    let mut driven = Driven::started(1);
    driven.receive(2, Message::AskVote { term: 1 });
    let mut again = driven.node.restarted(9);
    let mut out = Vec::new();
    again.handle(driven.now, Event::Start, &mut out);
    again.handle(driven.now, Event::Received { from: Peer(3), message: Message::AskVote { term: 1 } }, &mut out);
    assert_eq!(out, [Envelope { to: Peer(3), message: Message::Vote { term: 1, granted: false } }]);
}

#[test]
fn a_leader_sends_heartbeats_at_once_and_again() {
    let mut driven = Driven::started(4);
    driven.wake();
    driven.receive(0, Message::PreVote { term: 1, granted: true });
    driven.receive(1, Message::PreVote { term: 1, granted: true });
    driven.receive(0, Message::Vote { term: 1, granted: true });
    assert_eq!(driven.node.leads_until(), None, "two of five");
    assert_eq!(driven.receive(1, Message::Vote { term: 1, granted: true }), [Message::Heartbeat { term: 1 }; 4]);
    assert_eq!(driven.node.leads_until(), Some(Time::MAX));
    assert_eq!(driven.node.next_deadline(), Some((driven.now + driven.node.config.heartbeat, Timer::Heartbeat)));
    assert_eq!(driven.wake(), to_all(4, Message::Heartbeat { term: 1 }));
}

#[test]
fn votes_of_an_earlier_term_count_for_nothing() {
    let mut driven = Driven::started(4);
    driven.wake();
    [0, 1].into_iter().for_each(|voter| drop(driven.receive(voter, Message::PreVote { term: 1, granted: true })));
    driven.receive(2, Message::AskVote { term: 2 });
    [0, 1, 2].into_iter().for_each(|voter| drop(driven.receive(voter, Message::Vote { term: 1, granted: true })));
    assert_eq!((driven.node.leads_until(), driven.node.term()), (None, 2));
}

#[test]
fn a_heartbeat_makes_a_candidate_follow_and_one_of_an_older_term_is_refused() {
    let mut driven = Driven::started(2);
    driven.wake();
    [0, 1].into_iter().for_each(|voter| drop(driven.receive(voter, Message::PreVote { term: 1, granted: true })));
    assert_eq!(driven.receive(3, Message::Heartbeat { term: 1 }), [Message::HeartbeatTaken { term: 1 }]);
    assert_eq!(driven.node.role, Role::Follower);
    driven.receive(3, Message::Heartbeat { term: 4 });
    let before = driven.node.clone();
    assert_eq!(driven.receive(0, Message::Heartbeat { term: 1 }), [Message::HeartbeatTaken { term: 4 }]);
    assert_eq!(driven.node, before);
}

#[test]
fn a_leader_that_sees_a_higher_term_follows() {
    let mut driven = Driven::leading(0);
    driven.receive(1, Message::HeartbeatTaken { term: 3 });
    assert_eq!((driven.node.leads_until(), driven.node.disk), (None, Disk { term: 3, voted_for: None }));
}

#[test]
fn a_leader_without_the_answers_of_a_majority_for_an_election_timeout_steps_down() {
    let mut driven = Driven::leading(0);
    let began = driven.now;
    while driven.now < began + driven.node.config.silence / 2 {
        driven.wake();
    }
    [1, 2].into_iter().for_each(|peer| drop(driven.receive(peer, Message::HeartbeatTaken { term: 1 })));
    let answered = driven.now;
    while driven.node.is_leader() {
        driven.receive(3, Message::HeartbeatTaken { term: 1 });
        driven.wake();
    }
    assert_eq!(driven.now, answered + driven.node.config.silence, "one that answers is no majority");
}

#[test]
fn timeouts_are_random_between_one_and_two_silences() {
    let timeouts: Vec<Time> = (0..20)
        .map(|seed| {
            let mut node = Raft::new(Config { seed, ..Config::new(Peer(0), NODES) });
            node.handle(Time::ZERO, Event::Start, &mut Vec::new());
            node.election_at
        })
        .collect();
    let silence = Time::ZERO + Config::new(Peer(0), NODES).silence;
    assert!(timeouts.iter().all(|at| *at >= silence && *at < silence + silence.since(Time::ZERO)));
    assert!(timeouts.windows(2).any(|pair| pair[0] != pair[1]));
}

#[test]
fn an_old_leader_believes_in_its_term_until_it_is_told_or_loses_the_majority() {
    // The paper promises one leader a term, not one at an instant.
    let (old, mut new) = (Driven::leading(0), Driven::started(1));
    new.receive(0, Message::Heartbeat { term: 1 });
    new.wake();
    [2, 3].into_iter().for_each(|voter| drop(new.receive(voter, Message::PreVote { term: 2, granted: true })));
    [2, 3].into_iter().for_each(|voter| drop(new.receive(voter, Message::Vote { term: 2, granted: true })));
    assert!(old.node.is_leader() && new.node.is_leader(), "node 0 was paused meanwhile");
    assert!(old.node.term() < new.node.term());
}

#[test]
fn a_wake_that_comes_early_or_twice_does_nothing() {
    for mut driven in [Driven::started(1), Driven::leading(2)] {
        let before = driven.node.clone();
        assert_eq!((driven.give(Event::Wake), driven.node), (vec![], before));
    }
}

#[test]
fn a_leader_that_voted_for_another_is_noticed() {
    let mut node = Driven::leading(2).node;
    node.disk.voted_for = Some(Peer(1));
    assert_eq!(node.check(), Err(Broken::LeadsWithoutRight));
}
