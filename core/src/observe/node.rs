//! The promises about one node's history.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::time::Duration;

use super::entries::Entries;
use super::lease::LeaseJudge;
use super::part::keeps_to_its_part;
use super::queue::QueueJudge;
use super::wish::WishJudge;
use crate::store::{Answer, Effect, Reply, Request};
use crate::{
    Action, Announcement, Directory, Event, Family, Fence, Leader, Link, Member, Node, OpId, Run, Time, Violation,
};

/// Judge of one node, which follows it from its start through every event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeJudge {
    link: Link,
    awaited: BTreeSet<OpId>,
    queue: QueueJudge,
    lease: LeaseJudge,
    wish: WishJudge,
    entries: Entries,
    /// Watches that fired before the answer which armed them.
    early: BTreeSet<OpId>,
    timeout: Duration,
    service: Option<Service>,
    stopping: bool,
    /// True once the store has shown that the node's settings are the cluster's.
    settled: bool,
    over: bool,
    gate: Option<(Fence, Time)>,
    last_term: Option<Fence>,
    workers: Vec<Member>,
    coordinators: Vec<Member>,
    writes: u64,
    disturbances: u64,
}

/// A service between its start and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Service {
    run: Run,
    /// Fence of the term that it serves, on a leader.
    fence: Option<Fence>,
    /// End of its drain, once it was asked to stop.
    drain_until: Option<Time>,
}

impl NodeJudge {
    /// Largest number of writes for each disturbance. Disturbances are events that no request of this node caused,
    /// deadlines that passed, and answers that are not a success.
    pub const WRITES_PER_DISTURBANCE: u64 = 6;

    /// A judge of a node that has not handled an event yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Judges one step: the node before it, the event at `now`, the actions, and the node after it.
    ///
    /// # Errors
    /// The first promise that was broken.
    pub fn step(
        &mut self,
        before: &Node,
        now: Time,
        event: &Event,
        actions: &[Action],
        after: &Node,
    ) -> Result<(), Violation> {
        self.judge_stale(before, now, event, actions, after)?;
        self.note_session(before, now, event, after)?;
        self.note_event(before, now, event, after)?;
        self.count_disturbance(before, now, event);
        if *event == Event::Shutdown {
            self.stopping = true;
        }
        self.over |= actions.iter().any(Action::ends_node);
        self.note_service_event(event);
        for action in actions {
            self.judge_action(now, action, after)?;
        }
        if !self.over {
            self.judge_standing(after)?;
            judge_floor(before, event, after)?;
            self.wish.judge(before, now, event, after)?;
        }
        if before.floor().zip(after.floor()).is_some_and(|(old, new)| old.is_newer_than(new)) {
            return Err(Violation::StaleAccepted);
        }
        if self.gate.is_some_and(|(_, until)| until <= now) || self.service_outlives_term(now, after) {
            return Err(Violation::OutlivedValidity);
        }
        if self.workers != after.workers() || self.coordinators != after.coordinators() {
            return Err(Violation::DifferenceBroken);
        }
        if self.writes > Self::WRITES_PER_DISTURBANCE * self.disturbances.saturating_add(1) {
            return Err(Violation::WriteStorm);
        }
        Ok(())
    }

    /// P8: an answer that nobody waits for does no more than the passing of time, unless it reports a candidate of the
    /// current session that exists after all.
    fn judge_stale(
        &mut self,
        before: &Node,
        now: Time,
        event: &Event,
        actions: &[Action],
        after: &Node,
    ) -> Result<(), Violation> {
        let Event::Answered { id, answer } = event else { return Ok(()) };
        let awaited = self.awaited.remove(id);
        if awaited || self.queue.is_late_create(*id, answer) {
            return Ok(());
        }
        let mut twin = before.clone();
        let mut expected = Vec::new();
        twin.handle(now, Event::Wake, &mut expected);
        if twin != *after || expected != actions { Err(Violation::StaleBelieved) } else { Ok(()) }
    }

    /// P13: when its term is over, a leader's service is stopped at once, unless the whole node is over.
    fn service_outlives_term(&self, now: Time, after: &Node) -> bool {
        let Some(Service { fence: Some(fence), drain_until, .. }) = self.service else { return false };
        let goes_on = drain_until.is_none_or(|until| now < until);
        let holds = after.term().is_some_and(|(term, _)| term == fence);
        goes_on && !holds && !self.over
    }

    /// The end of a session ends everything begun in it; the loss of a connection ends all knowledge of who leads.
    fn note_session(&mut self, before: &Node, now: Time, event: &Event, after: &Node) -> Result<(), Violation> {
        let breaks = event.is_session_news();
        if breaks && before != after && after.leader().is_some_and(|leader| !is_itself(&leader, after)) {
            return Err(Violation::StaleBelieved);
        }
        let session = |node: &Node| node.session().map(|(session, _)| session);
        if session(before) != session(after) || session(after).is_none() {
            self.entries = Entries::default();
            self.queue.begin(now, session(before).map(|_| self.timeout));
            self.lease.begin();
        }
        if breaks || session(before) != session(after) {
            self.queue.relink();
            self.early.clear();
        }
        if let Event::SessionUp { timeout, .. } = event {
            self.timeout = *timeout;
            self.queue.negotiated(*timeout);
            self.lease.negotiated(*timeout);
        }
        Ok(())
    }

    /// Notes the store's messages, and their meaning for the content of the store. P7: a watch that has fired no longer
    /// counts, even if its notice comes before its answer.
    fn note_event(&mut self, before: &Node, now: Time, event: &Event, after: &Node) -> Result<(), Violation> {
        match event {
            Event::Answered { id, answer } => {
                self.settled |= matches!(answer, Answer::Done(Reply::Settings(theirs)) if after.config().settings.as_ref() == Some(theirs));
                let awaited = before.awaits(now, *id);
                self.queue.answered(now, *id, answer, awaited, after);
                self.lease.answered(*id, answer, awaited);
                if awaited {
                    self.wish.answered(*id, answer);
                    self.entries.answered(*id, answer);
                }
                if self.early.remove(id) && after.relies_on(*id) {
                    return Err(Violation::WrongWatch);
                }
            }
            Event::Noticed { id, .. } if before.awaits(now, *id) => _ = self.early.insert(*id),
            Event::Noticed { id, notice } => {
                self.queue.noticed(*id, *notice);
                if after.relies_on(*id) {
                    return Err(Violation::WrongWatch);
                }
            }
            Event::SessionUp { .. }
            | Event::Suspended
            | Event::SessionLost
            | Event::ServiceStarted { .. }
            | Event::ServiceFailed { .. }
            | Event::ServiceStopped { .. }
            | Event::FenceSeen { .. }
            | Event::Resign
            | Event::Stand { .. }
            | Event::Shutdown
            | Event::Wake => {}
        }
        Ok(())
    }

    /// Judges the node's standing in its election.
    fn judge_standing(&self, after: &Node) -> Result<(), Violation> {
        match after.config().election.family() {
            Family::Queue => self.queue.judge(after),
            Family::Lease => self.lease.judge(after),
        }
    }

    fn count_disturbance(&mut self, before: &Node, now: Time, event: &Event) {
        let overdue = before.next_deadline().is_some_and(|(at, _)| at <= now);
        let disturbs = match event {
            Event::Wake => false,
            Event::Answered { answer: Answer::Done(_), .. } => false,
            Event::Answered { answer: Answer::Refused(_) | Answer::Unknown, .. } => true,
            Event::SessionUp { .. }
            | Event::Suspended
            | Event::SessionLost
            | Event::Noticed { .. }
            | Event::ServiceStarted { .. }
            | Event::ServiceFailed { .. }
            | Event::ServiceStopped { .. }
            | Event::FenceSeen { .. }
            | Event::Resign
            | Event::Stand { .. }
            | Event::Shutdown => true,
        };
        if disturbs || overdue {
            self.disturbances = self.disturbances.saturating_add(1);
        }
        if event.is_session_news() {
            self.awaited.clear();
        }
    }

    fn note_service_event(&mut self, event: &Event) {
        let ended = match event {
            Event::ServiceFailed { run } => self.service.is_some_and(|service| service.run == *run),
            Event::ServiceStopped { run } => {
                self.service.is_some_and(|service| service.run == *run && service.drain_until.is_some())
            }
            Event::SessionUp { .. }
            | Event::Suspended
            | Event::SessionLost
            | Event::Answered { .. }
            | Event::Noticed { .. }
            | Event::ServiceStarted { .. }
            | Event::FenceSeen { .. }
            | Event::Resign
            | Event::Stand { .. }
            | Event::Shutdown
            | Event::Wake => false,
        };
        if ended {
            self.service = None;
        }
    }

    fn judge_action(&mut self, now: Time, action: &Action, after: &Node) -> Result<(), Violation> {
        keeps_to_its_part(after.config(), action)?;
        match action {
            Action::Store { id, request } => {
                self.judge_request(now, *id, request, after)?;
            }
            Action::OpenGate { fence, until } => {
                self.judge_epoch(*fence)?;
                let covered = match after.config().election.family() {
                    Family::Queue => self.queue.covers(*until, after.config()),
                    Family::Lease => self.lease.covers(*until, after.config()),
                };
                if !covered {
                    return Err(Violation::OutlivedValidity);
                }
                self.gate = Some((*fence, *until));
            }
            Action::CloseGate => self.gate = None,
            Action::StartService { run, fence, .. } => {
                let started = Service { run: *run, fence: *fence, drain_until: None };
                if self.service.replace(started).is_some() || self.stopping {
                    return Err(Violation::ServicesOverlap);
                }
                if fence.is_some() && self.entries.may_be_worker() {
                    return Err(Violation::RegistryDisagrees);
                }
            }
            Action::StopService { run, drain_until } => match &mut self.service {
                Some(service) if service.run == *run => service.drain_until = Some(*drain_until),
                Some(_) | None => return Err(Violation::ServicesOverlap),
            },
            Action::Announce(Announcement::Members { directory, difference }) => {
                let members = match directory {
                    Directory::Workers => &mut self.workers,
                    Directory::Coordinators => &mut self.coordinators,
                };
                difference.apply(members);
            }
            // A fresh start mends a node, but its cause is a finding nevertheless.
            Action::Halt(violation) | Action::StartAfresh(violation) => return Err(*violation),
            Action::Floor(_)
            | Action::Announce(
                Announcement::Role(_)
                | Announcement::Leader(_)
                | Announcement::SettingsChanged(_)
                | Announcement::Ownerless(_),
            )
            | Action::RenewSession
            | Action::CloseSession
            | Action::Exit
            | Action::Refuse(_) => {}
        }
        Ok(())
    }

    fn judge_request(&mut self, now: Time, id: OpId, request: &Request, after: &Node) -> Result<(), Violation> {
        if id.link != self.link {
            self.link = id.link;
            self.awaited.clear();
        }
        let serves = self.service.is_some_and(|service| service.fence.is_some());
        self.queue.asked(now, id, request, serves, after)?;
        self.wish.asked(id, request, after)?;
        self.lease.asked(now, id, request, serves)?;
        if let Request::Directory(request) = request {
            self.entries.asked(id, request, after)?;
        }
        self.awaited.retain(|other| other.slot != id.slot);
        self.awaited.insert(id);
        let effect = request.effect();
        if effect == Effect::Create && after.config().settings.is_some() && !self.settled {
            return Err(Violation::Unsettled);
        }
        self.writes = self.writes.saturating_add(u64::from(effect.is_caused()));
        if effect == Effect::Create && self.stopping { Err(Violation::CreateAfterStop) } else { Ok(()) }
    }

    /// P12, as far as one node can tell: its own terms rise within an incarnation.
    fn judge_epoch(&mut self, fence: Fence) -> Result<(), Violation> {
        let same_term = self.gate.is_some_and(|(current, _)| current == fence);
        let rises = self.last_term.is_none_or(|last| fence.incarnation != last.incarnation || fence.epoch > last.epoch);
        self.last_term = Some(fence);
        if same_term || rises { Ok(()) } else { Err(Violation::EpochNotRising) }
    }
}

/// P14: the floor follows the term record and the node's own claims, and nothing else.
fn judge_floor(before: &Node, event: &Event, after: &Node) -> Result<(), Violation> {
    let shown = match event {
        Event::Answered { answer: Answer::Done(Reply::Term(record)), .. } => Some(record.fence),
        Event::Answered { .. }
        | Event::SessionUp { .. }
        | Event::Suspended
        | Event::SessionLost
        | Event::Noticed { .. }
        | Event::ServiceStarted { .. }
        | Event::ServiceFailed { .. }
        | Event::ServiceStopped { .. }
        | Event::FenceSeen { .. }
        | Event::Resign
        | Event::Stand { .. }
        | Event::Shutdown
        | Event::Wake => None,
    };
    let claimed = after.term().map(|(fence, _)| fence);
    let floor = after.floor();
    if floor == before.floor() || floor == shown || floor == claimed { Ok(()) } else { Err(Violation::ForgedBelieved) }
}

/// True if a node names itself as the leader and is right. It needs no connection to know that.
fn is_itself(leader: &Leader, node: &Node) -> bool {
    let held = node.term().map(|(fence, _)| fence.epoch);
    matches!(leader, Leader::Node { id, epoch, .. } if *id == node.config().id && held == Some(*epoch))
}
