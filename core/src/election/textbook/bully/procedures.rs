//! The paper's procedures.

use alloc::vec::Vec;

use super::super::outbox::{send, send_all};
use super::super::{Envelope, Peer};
use super::{Bully, Call, Message, Phase, Roll, Status};
use crate::Time;

type Out = Vec<Envelope<Message>>;

impl Bully {
    /// "Recovery": a node that comes back calls an election, and so gets the place that its number deserves.
    pub(super) fn recovery(&mut self, now: Time, out: &mut Out) {
        self.halted_by = None;
        self.election(now, out);
    }

    /// "Timeout": a node that has not heard from its coordinator asks whether it is there. Without an answer, or without a
    /// coordinator, it calls an election.
    fn timeout(&mut self, now: Time, out: &mut Out) {
        match (self.status, self.coordinator) {
            (Status::Normal | Status::Reorganization, Some(coordinator)) => {
                let until = self.call([coordinator], Call::AreYouThere, now, out);
                self.phase = Phase::AskingCoordinator { until };
            }
            (Status::Election, _) | (_, None) => self.election(now, out),
        }
    }

    /// "Check": the coordinator asks all other nodes from time to time whether they are normal. One that is not, since it
    /// has just recovered, makes the coordinator call an election.
    fn check_others(&mut self, now: Time, out: &mut Out) {
        let until = self.call(self.config.others(), Call::AreYouNormal, now, out);
        self.phase = Phase::Checking { until, roll: Roll::of(self.config.others()) };
        self.go_on_if_complete(now, out);
    }

    /// "Election", first part: a node with a higher number that is there will do better.
    fn election(&mut self, now: Time, out: &mut Out) {
        self.heard = now;
        if self.config.higher().next().is_none() {
            return self.halt_lower(now, out);
        }
        let until = self.call(self.config.higher(), Call::AreYouThere, now, out);
        self.phase = Phase::AskingHigher { until };
    }

    /// "Election", second part: all lower nodes are halted, so that none of them works for another coordinator.
    fn halt_lower(&mut self, now: Time, out: &mut Out) {
        (self.status, self.halted_by) = (Status::Election, Some(self.config.me));
        let until = self.call(self.config.lower(), Call::Halt, now, out);
        self.phase = Phase::Halting { until, roll: Roll::of(self.config.lower()) };
        self.go_on_if_complete(now, out);
    }

    /// "Election", third part: the nodes that halted are told who is coordinator.
    fn name_itself(&mut self, now: Time, up: Vec<Peer>, out: &mut Out) {
        (self.status, self.coordinator) = (Status::Reorganization, Some(self.config.me));
        let until = self.call(up.iter().copied(), Call::NewCoordinator, now, out);
        self.phase = Phase::Naming { until, roll: Roll::of(up) };
        self.go_on_if_complete(now, out);
    }

    /// "Election", last part: they get their task.
    fn ready_them(&mut self, now: Time, up: Vec<Peer>, out: &mut Out) {
        let until = self.call(up.iter().copied(), Call::Ready, now, out);
        self.phase = Phase::Readying { until, roll: Roll::of(up) };
        self.go_on_if_complete(now, out);
    }

    fn begin_to_lead(&mut self, now: Time) {
        self.status = Status::Normal;
        self.rest(now);
    }

    fn rest(&mut self, now: Time) {
        self.phase = Phase::Idle;
        (self.heard, self.check_at) = (now, now + self.config.heartbeat);
    }

    /// Calls a procedure on other nodes. Returns the time at which their answers are due.
    fn call(&mut self, peers: impl IntoIterator<Item = Peer>, call: Call, now: Time, out: &mut Out) -> Time {
        self.round = self.round.wrapping_add(1);
        send_all(out, peers, &Message::Call { call, round: self.round });
        now + self.config.answer_within
    }

    /// Runs a procedure that another node has called.
    pub(super) fn called(&mut self, now: Time, from: Peer, call: Call, round: u64, out: &mut Out) {
        let mut yes = true;
        match call {
            Call::AreYouThere => {}
            Call::AreYouNormal => yes = self.status == Status::Normal,
            Call::Halt => {
                (self.status, self.halted_by) = (Status::Election, Some(from));
                self.rest(now);
            }
            Call::NewCoordinator if self.halted_by == Some(from) && self.status == Status::Election => {
                (self.status, self.coordinator) = (Status::Reorganization, Some(from));
            }
            Call::Ready if self.coordinator == Some(from) && self.status == Status::Reorganization => {
                self.status = Status::Normal;
            }
            // The caller is no longer, or not yet, this node's coordinator. It gets its answer all the same.
            Call::NewCoordinator | Call::Ready => {}
        }
        if self.coordinator == Some(from) || self.halted_by == Some(from) {
            self.heard = now;
        }
        send(out, from, Message::Return { to: call, round, yes });
    }

    /// Takes the answer to a call of the present round.
    pub(super) fn returned(&mut self, now: Time, from: Peer, yes: bool, out: &mut Out) {
        match &mut self.phase {
            Phase::Idle => {}
            // A higher node is there, and so is the coordinator: this node waits.
            Phase::AskingHigher { .. } | Phase::AskingCoordinator { .. } => self.rest(now),
            Phase::Checking { .. } if !yes => self.election(now, out),
            Phase::Halting { roll, .. }
            | Phase::Naming { roll, .. }
            | Phase::Readying { roll, .. }
            | Phase::Checking { roll, .. } => {
                roll.note(from);
                self.go_on_if_complete(now, out);
            }
        }
    }

    fn go_on_if_complete(&mut self, now: Time, out: &mut Out) {
        match &self.phase {
            Phase::Idle | Phase::AskingHigher { .. } | Phase::AskingCoordinator { .. } => {}
            Phase::Halting { roll, .. }
            | Phase::Naming { roll, .. }
            | Phase::Readying { roll, .. }
            | Phase::Checking { roll, .. } => {
                if roll.is_complete() {
                    self.go_on(now, out);
                }
            }
        }
    }

    /// Ends a phase, whose answers are complete or whose time is up.
    fn go_on(&mut self, now: Time, out: &mut Out) {
        match core::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Idle => {}
            // No higher node is there.
            Phase::AskingHigher { .. } => self.halt_lower(now, out),
            Phase::AskingCoordinator { .. } => self.election(now, out),
            // Nodes that did not halt in time are down.
            Phase::Halting { roll, .. } => self.name_itself(now, roll.present().collect(), out),
            // A node that was up a moment ago and is not any more: the election is void.
            Phase::Naming { roll, .. } | Phase::Readying { roll, .. } if !roll.is_complete() => {
                self.election(now, out);
            }
            Phase::Naming { roll, .. } => self.ready_them(now, roll.called().collect(), out),
            Phase::Readying { .. } => self.begin_to_lead(now),
            // A node that does not answer is down, which concerns nobody.
            Phase::Checking { .. } => self.rest(now),
        }
    }

    pub(super) fn wake(&mut self, now: Time, out: &mut Out) {
        match self.phase.until() {
            Some(until) if until <= now => self.go_on(now, out),
            Some(_) => {}
            None if self.is_coordinator() && self.check_at <= now => self.check_others(now, out),
            None if !self.is_coordinator() && self.heard + self.config.silence <= now => self.timeout(now, out),
            None => {}
        }
    }
}
