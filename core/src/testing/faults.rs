//! Faults around the nodes, and acts of operators.

use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;

use crate::store::{self, Act, Client, Fault, Output, Server};
use crate::{Candidate, Event, Family, Guid, Session};

use super::{Cluster, LATENCY, Outcome, TIMEOUT};

/// Guid of a candidate that another kind of client made.
const FOREIGN: Guid = Guid(0xd83c_ff5d);

impl Cluster {
    /// Tells a node whether it is willing to lead.
    pub fn stand(&mut self, name: &'static str, willing: bool) {
        self.host(name).willing = willing;
        self.deliver(name, Event::Stand { willing });
    }

    /// Crashes the process, and its connection with it.
    pub fn crash(&mut self, name: &'static str) {
        self.trace.note(self.now, name, "crashes");
        let host = self.host(name);
        host.outcome = Outcome::Crashed;
        host.gate = None;
        self.hang_up(name);
    }

    /// Starts a node whose service fails this many starts.
    pub fn host_with_failing_starts(&mut self, name: &'static str, failures: u32) {
        self.start(name);
        self.host(name).failing_starts = failures;
    }

    /// Breaks the link for good. The node is told at once.
    pub fn cut(&mut self, name: &'static str) {
        self.trace.note(self.now, name, "is cut off from the store");
        self.host(name).reachable = false;
        if self.host(name).linked {
            self.hang_up(name);
            self.send_to_node(name, Duration::ZERO, Event::Suspended);
            self.turn();
        }
    }

    /// Allows the link again.
    pub fn heal(&mut self, name: &'static str) {
        self.trace.note(self.now, name, "can reach the store again");
        self.host(name).reachable = true;
        self.connect(name);
    }

    /// Stops the process, its timers and its pings, as SIGSTOP does.
    pub fn pause(&mut self, name: &'static str) {
        self.trace.note(self.now, name, "is paused");
        self.host(name).paused = true;
    }

    /// Lets a paused process go on.
    pub fn resume(&mut self, name: &'static str) {
        self.trace.note(self.now, name, "goes on");
        self.host(name).paused = false;
        // The gate counts even before the driver has read anything.
        self.judge_gates();
        while let Some(event) = self.host(name).mailbox.pop_front() {
            self.deliver(name, event);
        }
        self.connect(name);
    }

    /// Makes the client library open a new session while the old one lives, and report only the new one.
    pub fn replace_session(&mut self, name: &'static str) {
        self.trace.note(self.now, name, "gets another session without being told of a loss");
        self.hang_up(name);
        self.host(name).session = None;
        self.connect(name);
    }

    /// Makes the client library drop its session while the store still keeps it.
    pub fn give_session_up(&mut self, name: &'static str) {
        self.trace.note(self.now, name, "gives up a session that the store still keeps");
        self.hang_up(name);
        self.host(name).session = None;
        self.send_to_node(name, Duration::ZERO, Event::SessionLost);
        self.connect(name);
    }

    /// Makes the store end a session early.
    pub fn expire(&mut self, name: &'static str) {
        if let Some(session) = self.host(name).session {
            self.trace.note(self.now, name, "has its session ended");
            self.fault(Fault::Expire(session));
        }
    }

    /// Delivers the events held back, in their order, and holds back no more.
    pub fn release(&mut self, name: &'static str) {
        self.host(name).holds = None;
        while let Some(event) = self.host(name).held.pop_front() {
            self.deliver(name, event);
        }
    }

    /// Injects a fault of the store.
    pub fn fault(&mut self, fault: Fault) {
        // A lease outlives its session, and a store that may have lost one waits until it would be over.
        let takes_a_candidate = matches!(fault, Fault::Expire(_) | Fault::Restart { keep_data: false });
        if self.store.family() == Family::Queue && takes_a_candidate || fault == Fault::Lapse {
            self.excused_until = self.now + TIMEOUT;
        }
        let what = match fault {
            Fault::Restart { keep_data: true } => "is started again".into(),
            Fault::Restart { keep_data: false } => "is started again, empty".into(),
            Fault::Step { millis } => format!("has its clock step by {millis} ms"),
            Fault::Lapse => "ends the lease".into(),
            Fault::Lag(_) | Fault::CatchUp(_) | Fault::Cut(_) | Fault::Heal { .. } | Fault::Expire(_) => {
                format!("{fault:?}")
            }
        };
        self.trace.note(self.now, "store", &what);
        self.give(store::Event::Fault(fault));
    }

    /// Carries out an act of an operator, or of another kind of client.
    pub fn operator(&mut self, act: Act) {
        if matches!(act, Act::DeleteCandidate(_)) {
            self.excused_until = self.now + TIMEOUT;
        }
        let what = match &act {
            Act::DeleteCandidate(candidate) => format!("deletes candidate {}", candidate.sequence),
            Act::RewriteCandidate(candidate) => format!("rewrites candidate {}", candidate.sequence),
            Act::DeleteMember { key, .. } => format!("deletes the entry of {}", key.id),
            Act::Wish(wish) => format!("wishes that epoch {} ends", wish.term.epoch.0),
            Act::AddCandidate { .. }
            | Act::LitterQueue
            | Act::AddMember { .. }
            | Act::RewriteMember { .. }
            | Act::LitterDirectory(_)
            | Act::DeleteTerm
            | Act::SpoilTerm
            | Act::DeleteSettings
            | Act::SpoilWish
            | Act::DeleteWish => format!("{act:?}"),
        };
        self.trace.note(self.now, "operator", &what);
        self.give(store::Event::Operator(act));
    }

    /// Adds a candidate of another kind of client at the end of the queue. It stays until it is deleted. Returns `None` if
    /// no server of the store gives the client a session.
    pub fn foreign_candidate(&mut self, participant: &str) -> Option<Candidate> {
        self.trace.note(self.now, participant, "enters the queue, as another kind of client");
        let client = Client { id: participant.into(), address: "elsewhere:90".into(), metadata: Default::default() };
        let connect = store::Event::Connect { server: Server(0), client, previous: None, timeout: TIMEOUT };
        let mut out = Vec::new();
        self.store.handle(self.now, connect, &mut out);
        let connected =
            |output: &Output| if let Output::Connected { session, .. } = output { Some(*session) } else { None };
        let owner = out.iter().find_map(connected)?;
        self.strangers.push(owner);
        self.next_strangers_ping = self.now;
        Some(self.add_candidate(Some(FOREIGN), participant, owner))
    }

    /// Adds a candidate that no session owns at the end of the queue: a leftover, or an operator's slip.
    pub fn ownerless_candidate(&mut self, guid: Guid) -> Candidate {
        self.trace.note(self.now, "operator", "creates a candidate that no session owns");
        self.add_candidate(Some(guid), "leftover", Session::NOBODY)
    }

    fn add_candidate(&mut self, guid: Option<Guid>, participant: &str, owner: Session) -> Candidate {
        self.give(store::Event::Operator(Act::AddCandidate { guid, participant: participant.into(), owner }));
        self.queue().last().expect("it was just added").0
    }

    /// Deletes the candidate of a node, as an operator.
    pub fn delete_candidate_of(&mut self, name: &str) -> Candidate {
        let candidate = self.candidate_of(name);
        self.operator(Act::DeleteCandidate(candidate));
        candidate
    }

    /// Moves the node's client to another server for good.
    pub fn move_to(&mut self, name: &'static str, server: Server) {
        self.host(name).server = server;
        self.hang_up(name);
        self.send_to_node(name, Duration::ZERO, Event::Suspended);
        self.connect(name);
        self.run(5 * LATENCY);
    }
}
