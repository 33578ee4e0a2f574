//! One process: a contender, its machine's clock, and what the operating system does to it.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use super::State;
use super::clock::Clock;
use super::count::Purposeful;
use crate::Time;
use crate::election::textbook::{Contender, Event, Peer};

/// A process of a simulation.
#[derive(Debug)]
pub(super) struct Process<M> {
    pub(super) contender: Box<dyn Contender<Message = M>>,
    pub(super) clock: Clock,
    pub(super) state: State,
    /// Number of the process's life: what was meant for an earlier one is lost.
    pub(super) life: u32,
    /// Time before which it gets nothing done.
    pub(super) busy_until: Time,
    /// Messages that arrived while it stood still.
    pub(super) mailbox: VecDeque<(Peer, M)>,
}

impl<M: Purposeful> Process<M> {
    pub(super) fn new(contender: Box<dyn Contender<Message = M>>) -> Self {
        Self {
            contender,
            clock: Clock::exact(),
            state: State::Down,
            life: 0,
            busy_until: Time::ZERO,
            mailbox: VecDeque::new(),
        }
    }

    /// True time at which it wants to be woken.
    pub(super) fn wakes_at(&self) -> Option<Time> {
        let (at, _) = self.contender.next_deadline().filter(|_| self.state == State::Up)?;
        Some(self.clock.true_time(at).max(self.busy_until)).filter(|at| *at < Time::MAX)
    }

    /// True if it believes that it leads, whether it runs or stands still.
    pub(super) fn believes(&self, now: Time) -> bool {
        self.state != State::Down && self.contender.leads_until().is_some_and(|until| self.clock.shows(now) < until)
    }

    /// True if it could act as leader now.
    pub(super) fn leads(&self, now: Time) -> bool {
        self.state == State::Up && self.believes(now)
    }

    /// True time at which its belief ends by its own clock.
    pub(super) fn belief_ends_at(&self, now: Time) -> Option<Time> {
        let until = self.contender.leads_until().filter(|until| *until < Time::MAX && self.state != State::Down)?;
        Some(self.clock.true_time(until)).filter(|at| *at > now)
    }

    /// Puts the process that is started after a crash in its place.
    pub(super) fn restart(&mut self, seed: u64) {
        self.contender = self.contender.restarted(seed);
        self.state = State::Up;
    }

    pub(super) fn crash(&mut self) {
        self.state = State::Down;
        self.life += 1;
        self.mailbox.clear();
    }
}

/// An event, with what an onlooker calls it.
pub(super) fn told<M: core::fmt::Debug>(event: &Event<M>) -> alloc::string::String {
    match event {
        Event::Start => "starts".into(),
        Event::Received { from, message } if *from == Peer::STORE => alloc::format!("the store: {message:?}"),
        Event::Received { from, message } => alloc::format!("from {}: {message:?}", from.0),
        Event::ClockSet { by, forward: true } => alloc::format!("the wall clock is set forward by {by:?}"),
        Event::ClockSet { by, forward: false } => alloc::format!("the wall clock is set back by {by:?}"),
        Event::Wake => "wakes".into(),
    }
}
