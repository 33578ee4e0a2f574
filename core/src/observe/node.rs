//! The promises about one node's history.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::store::{Answer, Reply, Request};
use crate::{Action, Announcement, Directory, Event, Fence, Link, Member, Node, OpId, Run, Slot, Time, Violation};

/// Follows one node, from its start, through every event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Observer {
    link: Link,
    awaited: BTreeSet<OpId>,
    service: Option<(Run, bool)>,
    stopping: bool,
    gate: Option<(Fence, Time)>,
    last_term: Option<Fence>,
    workers: Vec<Member>,
    coordinators: Vec<Member>,
    writes: u64,
    disturbances: u64,
}

impl Observer {
    /// The writes that one disturbance may cause, each of: an event that no request of this node brought about, a deadline
    /// that passed, an answer that is not a success.
    pub const WRITES_PER_DISTURBANCE: u64 = 6;

    /// A judge of a node that has not taken an event yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Judges one step: the node before, the event at `now`, the actions it brought about, and the node after.
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
        self.count_disturbance(before, now, event);
        if *event == Event::Shutdown {
            self.stopping = true;
        }
        self.note_service_event(event);
        for action in actions {
            self.judge_action(action)?;
        }
        if self.gate.is_some_and(|(_, until)| until <= now) {
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

    /// P8: what nobody waits for does no more than the passing of time, but for a candidate of the present session that
    /// exists all the same.
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
        let late_create = id.slot == Slot::Queue && matches!(answer, Answer::Done(Reply::Entered(_)));
        if awaited || late_create {
            return Ok(());
        }
        let mut twin = before.clone();
        let mut expected = Vec::new();
        twin.handle(now, Event::Wake, &mut expected);
        if twin != *after || expected != actions { Err(Violation::StaleBelieved) } else { Ok(()) }
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
            | Event::Shutdown => true,
        };
        if disturbs || overdue {
            self.disturbances = self.disturbances.saturating_add(1);
        }
        match event {
            Event::SessionUp { .. } | Event::Suspended | Event::SessionLost => self.awaited.clear(),
            Event::Answered { .. }
            | Event::Noticed { .. }
            | Event::ServiceStarted { .. }
            | Event::ServiceFailed { .. }
            | Event::ServiceStopped { .. }
            | Event::FenceSeen { .. }
            | Event::Resign
            | Event::Shutdown
            | Event::Wake => {}
        }
    }

    fn note_service_event(&mut self, event: &Event) {
        let ended = match event {
            Event::ServiceFailed { run } => self.service.is_some_and(|(current, _)| current == *run),
            Event::ServiceStopped { run } => self.service == Some((*run, true)),
            Event::SessionUp { .. }
            | Event::Suspended
            | Event::SessionLost
            | Event::Answered { .. }
            | Event::Noticed { .. }
            | Event::ServiceStarted { .. }
            | Event::FenceSeen { .. }
            | Event::Resign
            | Event::Shutdown
            | Event::Wake => false,
        };
        if ended {
            self.service = None;
        }
    }

    fn judge_action(&mut self, action: &Action) -> Result<(), Violation> {
        match action {
            Action::Store { id, request } => self.judge_request(*id, request)?,
            Action::OpenGate { fence, until } => {
                self.judge_epoch(*fence)?;
                self.gate = Some((*fence, *until));
            }
            Action::CloseGate => self.gate = None,
            Action::StartService { run, .. } => {
                if self.service.replace((*run, false)).is_some() || self.stopping {
                    return Err(Violation::ServicesOverlap);
                }
            }
            Action::StopService { run, .. } => {
                if self.service.replace((*run, true)).is_none_or(|(current, _)| current != *run) {
                    return Err(Violation::ServicesOverlap);
                }
            }
            Action::Announce(Announcement::Members { directory, difference }) => {
                let members = match directory {
                    Directory::Workers => &mut self.workers,
                    Directory::Coordinators => &mut self.coordinators,
                };
                difference.apply(members);
            }
            Action::Halt(violation) => return Err(*violation),
            Action::Floor(_)
            | Action::Announce(Announcement::Role(_) | Announcement::Leader(_))
            | Action::RenewSession
            | Action::CloseSession
            | Action::Exit
            | Action::Refuse(_) => {}
        }
        Ok(())
    }

    fn judge_request(&mut self, id: OpId, request: &Request) -> Result<(), Violation> {
        if id.link != self.link {
            self.link = id.link;
            self.awaited.clear();
        }
        self.awaited.retain(|other| other.slot != id.slot);
        self.awaited.insert(id);
        let (creates, writes) = match request {
            Request::Enter { .. } | Request::Join { .. } => (true, true),
            Request::Claim { .. } | Request::Delete { .. } | Request::Leave { .. } | Request::Settle { .. } => {
                (false, true)
            }
            // Paced by time, not by what happens.
            Request::Beat { .. } => (false, false),
            Request::Sync
            | Request::List
            | Request::Inspect { .. }
            | Request::ReadTerm
            | Request::Verify { .. }
            | Request::Members { .. } => (false, false),
        };
        self.writes = self.writes.saturating_add(u64::from(writes));
        if creates && self.stopping { Err(Violation::CreateAfterStop) } else { Ok(()) }
    }

    /// P12, as far as one node can tell: its own terms rise within an incarnation.
    fn judge_epoch(&mut self, fence: Fence) -> Result<(), Violation> {
        let same_term = self.gate.is_some_and(|(current, _)| current == fence);
        let rises = self.last_term.is_none_or(|last| fence.incarnation != last.incarnation || fence.epoch > last.epoch);
        self.last_term = Some(fence);
        if same_term || rises { Ok(()) } else { Err(Violation::EpochNotRising) }
    }
}
