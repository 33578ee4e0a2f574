//! Votes, and the promises before them.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::super::outbox::{send, send_all};
use super::super::{Envelope, Peer};
use super::{Disk, Message, Raft, Role};
use crate::Time;

type Out = Vec<Envelope<Message>>;

impl Raft {
    /// Thesis 9.6: a node whose election timeout is over first asks who would vote for it, in the term after its own, which
    /// it does not enter yet. So a node that was cut off does not disturb a leader with a high term when it comes back.
    pub(super) fn ask_before_vote(&mut self, now: Time, out: &mut Out) {
        self.wait_for_leader(now);
        self.role = Role::PreCandidate { votes: BTreeSet::from([self.config.me]) };
        send_all(out, self.config.others(), &Message::AskPreVote { term: self.disk.term.saturating_add(1) });
        self.stand_if_promised(now, out);
    }

    /// Thesis 9.6: a node promises its vote if it has heard of no valid leader for at least the shortest election timeout,
    /// and the term is not older than its own. A promise binds nobody.
    pub(super) fn asked_before_vote(&mut self, now: Time, from: Peer, term: u64, out: &mut Out) {
        let is_free = self.heard.is_none_or(|heard| heard + self.config.silence <= now) && !self.is_leader();
        let granted = is_free && term >= self.disk.term;
        let term = if granted { term } else { self.disk.term };
        send(out, from, Message::PreVote { term, granted });
    }

    pub(super) fn told_before_vote(&mut self, now: Time, from: Peer, term: u64, granted: bool, out: &mut Out) {
        if !granted || term != self.disk.term.saturating_add(1) {
            return;
        }
        if let Role::PreCandidate { votes } = &mut self.role {
            votes.insert(from);
        }
        self.stand_if_promised(now, out);
    }

    fn stand_if_promised(&mut self, now: Time, out: &mut Out) {
        if matches!(&self.role, Role::PreCandidate { votes } if votes.len() >= self.config.majority()) {
            self.stand(now, out);
        }
    }

    /// Section 5.2: a candidate enters the next term, votes for itself, and asks all others for their votes.
    fn stand(&mut self, now: Time, out: &mut Out) {
        self.wait_for_leader(now);
        let term = self.disk.term.saturating_add(1);
        self.disk = Disk { term, voted_for: Some(self.config.me) };
        self.role = Role::Candidate { votes: BTreeSet::from([self.config.me]) };
        send_all(out, self.config.others(), &Message::AskVote { term });
        self.lead_if_elected(now, out);
    }

    /// Section 5.2: each node votes for at most one candidate in a term, first come, first served. A vote given starts the
    /// wait for a leader again.
    pub(super) fn asked_for_vote(&mut self, now: Time, from: Peer, term: u64, out: &mut Out) {
        let granted = term == self.disk.term && self.disk.voted_for.is_none_or(|voted| voted == from);
        if granted {
            self.disk.voted_for = Some(from);
            self.wait_for_leader(now);
        }
        send(out, from, Message::Vote { term: self.disk.term, granted });
    }

    pub(super) fn voted(&mut self, now: Time, from: Peer, term: u64, granted: bool, out: &mut Out) {
        if !granted || term != self.disk.term {
            return;
        }
        if let Role::Candidate { votes } = &mut self.role {
            votes.insert(from);
        }
        self.lead_if_elected(now, out);
    }

    /// Section 5.2: a candidate wins with the votes of a majority of all nodes, for the same term.
    fn lead_if_elected(&mut self, now: Time, out: &mut Out) {
        if matches!(&self.role, Role::Candidate { votes } if votes.len() >= self.config.majority()) {
            self.lead(now, out);
        }
    }
}
