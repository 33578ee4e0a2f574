//! A node handles an event, and the world carries out its actions.

use rolecall_core::rename::Canonical;
use rolecall_core::store::{Answer, QueueReply, Refusal, Reply};
use rolecall_core::{Action, Event, Fence, Node, Run, Slot, Violation};

use super::{Breach, News, Process, Sent, Service, World};
use crate::judge::{self, Judged};

/// The road by which an event comes to a node. Each road keeps its own order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Road {
    Answers,
    /// The road of delayed answers.
    Late,
    Notices,
    News,
}

/// The effect of one event on a node, for the trace.
pub(crate) struct Happened {
    pub(crate) place: usize,
    pub(crate) event: Event,
    pub(crate) actions: Vec<Action>,
}

impl World {
    pub(crate) fn deliver(&mut self, place: usize, event: Event, seen: &mut Vec<Happened>) {
        let host = &mut self.hosts[place];
        let now = host.clock;
        let Process::Runs(node) = &mut host.process else { return };
        let before = node.clone();
        let mut actions = Vec::new();
        node.handle(now, event.clone(), &mut actions);
        let judged = Judged { before: &before, now, event: &event, actions: &actions, after: node };
        let found = judge::step(&judged, host.stopping, is_stale(&before, now, &event));
        self.note_term(place, &before);
        if let Err(violation) = found {
            self.breach.get_or_insert(Breach::Promise(violation));
        }
        for action in &actions {
            self.carry_out(place, action);
        }
        seen.push(Happened { place, event, actions });
    }

    /// P12 between nodes: a term that begins is newer than all before it. If an outsider deleted the candidate before
    /// the node heard that it leads, its term is out of order and is refused by its epoch.
    fn note_term(&mut self, place: usize, before: &Node) {
        let host = &mut self.hosts[place];
        let held = before.term().map(|(fence, _)| fence);
        let holds = host.node().and_then(Node::term).map(|(fence, _)| fence);
        if let Some(fence) = holds.filter(|fence| held != Some(*fence) && !host.deposed) {
            let same_life = self.newest.filter(|newest| newest.incarnation == fence.incarnation);
            if same_life.is_some_and(|newest| !fence.is_newer_than(newest)) {
                self.breach.get_or_insert(Breach::Promise(Violation::EpochNotRising));
            }
            self.newest = Some(fence);
            if !self.stands_first(place, fence) {
                self.breach.get_or_insert(Breach::Promise(Violation::LeaderWithoutCandidate));
            }
        }
        let host = &mut self.hosts[place];
        host.deposed &= host.is_about_to_lead();
    }

    /// P2, as the store sees it: the session that this node believes in owns the first candidate, or the lease of this term
    /// is the node's. A lease answers to its token, whichever session of the node's client it was acquired by.
    fn stands_first(&self, place: usize, fence: Fence) -> bool {
        if let Some(lease) = self.store.lease() {
            return self.owners.get(&lease.owner) == Some(&place) && lease.epoch == fence.epoch;
        } else if self.has_restarted {
            // It grants no lease before this one has ended.
            return true;
        }
        let believed = self.hosts[place].node().and_then(Node::session).map(|(session, _)| session);
        self.store.holder().is_some_and(|holder| Some(holder.owner) == believed)
    }

    fn carry_out(&mut self, place: usize, action: &Action) {
        let host = &mut self.hosts[place];
        match action {
            Action::Store { id, request } => match host.session.filter(|_| host.linked) {
                Some(session) => host.sent.push_back((session, Sent::Request(*id, request.clone()))),
                None => host.answers.push_back((*id, Answer::Refused(Refusal::Disconnected))),
            },
            Action::StartService { run, .. } => {
                if host.service.replace(Service::Starting(*run)).is_some() || host.stopping {
                    self.breach.get_or_insert(Breach::Promise(Violation::ServicesOverlap));
                }
            }
            Action::StopService { run, .. } => self.stop_service(place, *run),
            Action::RenewSession => (host.session, host.linked) = (None, false),
            Action::CloseSession => {
                if let Some(session) = host.session.filter(|_| host.linked) {
                    host.sent.push_back((session, Sent::Close));
                }
            }
            Action::Exit => host.end(Process::Ended),
            Action::Refuse(_) => {
                host.end(Process::Ended);
                self.breach.get_or_insert(Breach::Refused);
            }
            // Mended by a fresh start or not, it is a finding.
            Action::Halt(violation) | Action::StartAfresh(violation) => {
                self.breach.get_or_insert(Breach::Promise(*violation));
            }
            Action::OpenGate { fence, until } => host.gate = Some((*fence, *until)),
            Action::CloseGate => host.gate = None,
            Action::Floor(_) | Action::Announce(_) => {}
        }
    }

    fn stop_service(&mut self, place: usize, run: Run) {
        let service = &mut self.hosts[place].service;
        if service.as_mut().is_some_and(|living| *living.run() == run) {
            *service = Some(Service::Stopping(run));
        } else {
            self.breach.get_or_insert(Breach::Promise(Violation::ServicesOverlap));
        }
    }

    /// Delivers the next event of this road to a node.
    pub(crate) fn bring(&mut self, place: usize, road: Road, seen: &mut Vec<Happened>) {
        let host = &mut self.hosts[place];
        match road {
            Road::Answers => {
                if let Some((id, answer)) = host.answers.pop_front() {
                    self.deliver(place, Event::Answered { id, answer }, seen);
                }
            }
            Road::Late => {
                if let Some((id, answer)) = host.late.pop_front() {
                    self.deliver(place, Event::Answered { id, answer }, seen);
                }
            }
            Road::Notices => {
                if let Some((id, notice)) = host.notices.pop_front() {
                    self.deliver(place, Event::Noticed { id, notice }, seen);
                }
            }
            Road::News => {
                if let Some(news) = host.news.pop_front() {
                    self.deliver_news(place, &news, seen);
                }
            }
        }
    }

    fn deliver_news(&mut self, place: usize, news: &News, seen: &mut Vec<Happened>) {
        let event = match news {
            News::Up(session) => {
                Event::SessionUp { session: *session, timeout: self.scale.timeout, entropy: session.0 }
            }
            News::Suspended => Event::Suspended,
            News::Lost => Event::SessionLost,
        };
        self.deliver(place, event, seen);
    }
}

/// True for an answer or a notice that the node does not wait for. A candidate that was created nevertheless still
/// matters.
fn is_stale(before: &Node, now: rolecall_core::Time, event: &Event) -> bool {
    let is_candidate = |answer: &Answer| matches!(answer, Answer::Done(Reply::Queue(QueueReply::Entered(_))));
    if matches!(event, Event::Answered { id, answer } if id.slot == Slot::Election && is_candidate(answer)) {
        return false;
    }
    event.operation().is_some_and(|id| !Canonical::new(now, before, &mut []).knows(id))
}
