//! Heartbeats.

use alloc::vec::Vec;

use super::super::outbox::{send, send_all};
use super::super::{Envelope, Peer};
use super::{Message, Raft, Role};
use crate::Time;

type Out = Vec<Envelope<Message>>;

impl Raft {
    /// Section 5.2: a new leader sends heartbeats to all others at once, so that nobody else stands.
    pub(super) fn lead(&mut self, now: Time, out: &mut Out) {
        let answered = self.config.others().map(|peer| (peer, now)).collect();
        self.role = Role::Leader { answered, heartbeat_at: now };
        self.lead_on(now, out);
    }

    /// Sends the heartbeat that is due. Thesis 6.2: a leader steps down if an election timeout passes without a round of
    /// heartbeats that a majority answers.
    pub(super) fn lead_on(&mut self, now: Time, out: &mut Out) {
        if self.majority_lost_at() <= now {
            return self.follow(now);
        }
        let Role::Leader { heartbeat_at, .. } = &mut self.role else { return };
        if *heartbeat_at <= now {
            *heartbeat_at = now + self.config.heartbeat;
            send_all(out, self.config.others(), &Message::Heartbeat { term: self.disk.term });
        }
    }

    /// Time at which a leader has not had the answers of a majority for an election timeout.
    pub(super) fn majority_lost_at(&self) -> Time {
        let Role::Leader { answered, .. } = &self.role else { return Time::MAX };
        let mut answered: Vec<Time> = answered.values().copied().collect();
        answered.sort_unstable_by(|one, other| other.cmp(one));
        // The leader itself is one of the majority.
        match self.config.majority().checked_sub(2) {
            Some(place) => answered.get(place).map_or(Time::MAX, |answered| *answered + self.config.silence),
            None => Time::MAX,
        }
    }

    /// Section 5.2: a heartbeat of this term or a newer one shows a valid leader, which every candidate accepts. One of an
    /// older term is refused, with the newer term.
    pub(super) fn heartbeat(&mut self, now: Time, from: Peer, term: u64, out: &mut Out) {
        if term == self.disk.term {
            self.follow(now);
            self.heard = Some(now);
            self.wait_for_leader(now);
        }
        send(out, from, Message::HeartbeatTaken { term: self.disk.term });
    }

    pub(super) fn heartbeat_taken(&mut self, now: Time, from: Peer, term: u64) {
        if let Role::Leader { answered, .. } = &mut self.role
            && term == self.disk.term
        {
            answered.insert(from, now);
        }
    }
}
