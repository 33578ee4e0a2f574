//! The recipe, step by step, and each way in which it fails.

use alloc::vec::Vec;
use core::time::Duration;

use super::super::{Contender, Event, Peer};
use super::{Command, Message, NaiveLease, POLL, RENEWAL, Store, TIME_TO_LIVE};
use crate::Time;

/// Two nodes and a Redis, whose messages take no time.
struct World {
    now: Time,
    store: Store,
    nodes: [NaiveLease; 2],
}

impl World {
    fn new() -> Self {
        let mut world = Self { now: Time::from_millis(1_000), store: Store::new(), nodes: [NaiveLease::new(); 2] };
        world.give(0, Event::Start);
        world.give(1, Event::Start);
        assert_eq!(world.leaders(), [0]);
        world
    }

    fn give(&mut self, node: u8, event: Event<Message>) -> Vec<Command> {
        let (mut asked, mut out) = (Vec::new(), Vec::new());
        self.nodes[usize::from(node)].handle(self.now, event, &mut out);
        while let Some(envelope) = out.pop() {
            if let Message::Ask(command) = envelope.message {
                asked.push(command);
            }
            let mut answers = Vec::new();
            self.store.handle(self.now, Event::Received { from: Peer(node), message: envelope.message }, &mut answers);
            for answer in answers {
                let event = Event::Received { from: Peer::STORE, message: answer.message };
                self.nodes[usize::from(node)].handle(self.now, event, &mut out);
            }
        }
        asked
    }

    /// Lets time pass, in which only these nodes run.
    fn pass(&mut self, length: Duration, running: &[u8]) {
        let end = self.now + length;
        loop {
            let next = running.iter().map(|node| (self.nodes[usize::from(*node)].next, *node)).min();
            let Some((at, node)) = next.filter(|(at, _)| *at <= end) else { break };
            self.now = self.now.max(at);
            self.give(node, Event::Wake);
        }
        self.now = end;
    }

    fn leaders(&self) -> Vec<usize> {
        (0..2).filter(|node| self.nodes[*node].is_leader).collect()
    }
}

#[test]
fn the_first_to_set_the_key_leads_and_prolongs_it_every_25_seconds() {
    let mut world = World::new();
    assert_eq!(world.store.expires_at(), Some(world.now + TIME_TO_LIVE));
    world.now = world.now + RENEWAL;
    assert_eq!(world.give(0, Event::Wake), [Command::Expire]);
    assert_eq!(world.store.expires_at(), Some(world.now + TIME_TO_LIVE));
}

#[test]
fn the_others_look_for_the_key_every_5_seconds() {
    let mut world = World::new();
    world.now = world.now + POLL;
    assert_eq!(world.give(1, Event::Wake), [Command::Exists]);
    world.pass(Duration::from_secs(600), &[0, 1]);
    assert_eq!(world.leaders(), [0]);
}

#[test]
fn a_dead_leader_is_replaced_after_35_seconds_at_most() {
    let mut world = World::new();
    world.nodes[0] = NaiveLease::new();
    world.pass(TIME_TO_LIVE - Duration::from_millis(1), &[1]);
    assert_eq!(world.leaders(), [0; 0]);
    world.pass(POLL + Duration::from_millis(1), &[1]);
    assert_eq!(world.leaders(), [1]);
}

#[test]
fn a_leader_that_pauses_goes_on_beside_the_next_and_neither_ever_notices() {
    let mut world = World::new();
    world.pass(TIME_TO_LIVE + POLL, &[1]);
    assert_eq!(world.leaders(), [0, 1]);
    world.pass(Duration::from_secs(3_600), &[0, 1]);
    assert_eq!(world.leaders(), [0, 1]);
}

#[test]
fn the_old_leader_keeps_the_key_of_a_dead_rival_alive() {
    let mut world = World::new();
    world.pass(TIME_TO_LIVE + POLL, &[1]);
    let set_by_1 = world.store.expires_at();
    world.nodes[1] = NaiveLease::new();
    world.pass(Duration::from_secs(600), &[0]);
    assert!(world.store.expires_at() > set_by_1);
}

#[test]
fn a_leader_that_is_cut_off_goes_on() {
    let mut world = World::new();
    for _ in 0..40 {
        world.now = world.now + RENEWAL;
        world.nodes[0].handle(world.now, Event::Wake, &mut Vec::new());
    }
    assert_eq!(world.leaders(), [0]);
}

#[test]
fn a_leader_that_is_told_that_the_key_is_gone_stands_again() {
    let mut world = World::new();
    world.store = Store::new();
    world.now = world.now + RENEWAL;
    world.give(0, Event::Wake);
    assert_eq!(world.leaders(), [0; 0]);
    world.pass(POLL, &[0]);
    assert_eq!(world.leaders(), [0]);
}

#[test]
fn a_step_of_the_servers_wall_clock_ends_the_key_early_or_late() {
    let mut world = World::new();
    let expires_at = world.store.expires_at().expect("it is set");
    let step = |forward| Event::ClockSet { by: Duration::from_secs(2), forward };
    world.store.handle(world.now, step(true), &mut Vec::new());
    assert_eq!(world.store.expires_at(), Some(expires_at - Duration::from_secs(2)));
    world.store.handle(world.now, step(false), &mut Vec::new());
    world.store.handle(world.now, step(false), &mut Vec::new());
    assert_eq!(world.store.expires_at(), Some(expires_at + Duration::from_secs(2)));

    world.store.handle(world.now, Event::ClockSet { by: TIME_TO_LIVE, forward: true }, &mut Vec::new());
    world.store.handle(world.now, step(true), &mut Vec::new());
    world.pass(POLL, &[0, 1]);
    assert_eq!(world.leaders(), [0, 1], "the key was gone while its leader ran");
}

#[test]
fn nothing_is_set_or_prolonged_that_should_not_be() {
    let mut store = Store::new();
    let mut ask = |millis, command| {
        let mut out = Vec::new();
        let event = Event::Received { from: Peer(1), message: Message::Ask(command) };
        store.handle(Time::from_millis(millis), event, &mut out);
        matches!(out[0].message, Message::Answer { to, yes: true } if to == command)
    };
    assert!(!ask(0, Command::Exists) && !ask(0, Command::Expire) && !ask(0, Command::Exists));
    assert!(ask(0, Command::SetIfAbsent) && !ask(1_000, Command::SetIfAbsent) && ask(29_999, Command::Exists));
    assert!(!ask(30_000, Command::Exists));
}
