//! The trace of a run, as text that a person can review.
//!
//! ```text
//!  +1200ms  b  store: candidate 7 is gone -> list
//!  +1201ms  b  list: 8 9 -> inspect 8, watch it
//! ```

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use crate::store::{
    Aim, Answer, DirectoryReply, DirectoryRequest, Effect, Holding, LeaseReply, LeaseRequest, Notice, QueueReply,
    QueueRequest, Refusal, Reply, Request, SettingsRequest, TermRequest, Verdict, Wish, WishReply, WishRequest,
};
use crate::{Action, Announcement, Candidate, Directory, Epoch, Event, Fence, Leader, OpId, Role, Snapshot, Time};

/// Renders the events and actions of the nodes of one run, one line each, at times relative to the first.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    start: Option<Time>,
    asked: BTreeMap<(String, OpId), String>,
    leading: BTreeMap<String, Fence>,
    text: String,
}

impl Trace {
    /// An empty trace.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The lines so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Drops the lines so far, and counts time anew.
    pub fn restart(&mut self) {
        self.start = None;
        self.text.clear();
    }

    /// Adds one line about something other than a node: a fault, an operator.
    pub fn note(&mut self, now: Time, who: &str, what: &str) {
        self.line(now, who, what);
    }

    /// Adds an event of `node` and its actions. Leaves out heartbeats, and events without actions, except the loss and
    /// the return of the store.
    pub fn record(&mut self, now: Time, node: &str, event: &Event, actions: &[Action]) {
        let what = self.event(node, event);
        for action in actions {
            if let Action::Store { id, request } = action {
                self.asked.insert((node.into(), *id), format!("{}", Words(request)));
            }
        }
        let matters = event.is_session_news();
        let mut done: Vec<String> = Vec::new();
        for action in actions {
            if !self.is_routine(node, action) {
                done.push(format!("{}", Words(action)));
            }
        }
        if done.is_empty() && !matters {
            return;
        }
        let done = if done.is_empty() { String::from("nothing") } else { done.join(", ") };
        self.line(now, node, &format!("{what} -> {done}"));
    }

    /// True for a heartbeat, or for the longer validity that follows from it.
    fn is_routine(&mut self, node: &str, action: &Action) -> bool {
        match action {
            Action::Store { request: Request::Wish(WishRequest::Read { .. }), .. } => true,
            Action::Store { request, .. } => request.effect() == Effect::Beat,
            Action::OpenGate { fence, .. } => self.leading.insert(node.into(), *fence) == Some(*fence),
            Action::CloseGate => {
                self.leading.remove(node);
                false
            }
            Action::Floor(_)
            | Action::StartService { .. }
            | Action::StopService { .. }
            | Action::Announce(_)
            | Action::RenewSession
            | Action::CloseSession
            | Action::Exit
            | Action::Refuse(_)
            | Action::StartAfresh(_)
            | Action::Halt(_) => false,
        }
    }

    fn line(&mut self, now: Time, who: &str, what: &str) {
        let start = *self.start.get_or_insert(now);
        let at = format!("+{}ms", now.since(start).as_millis());
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{at:>9}  {who}  {what}");
    }

    fn event(&mut self, node: &str, event: &Event) -> String {
        match event {
            Event::SessionUp { session, .. } => format!("session {} is up", session.0),
            Event::Suspended => "connection lost".into(),
            Event::SessionLost => "session lost".into(),
            Event::Answered { id, answer } => {
                let asked = self.asked.get(&(node.into(), *id)).map_or("something", String::as_str);
                format!("{asked}: {}", Words(answer))
            }
            Event::Noticed { id, notice } => {
                let asked = self.asked.get(&(node.into(), *id)).map_or("something", String::as_str);
                let watched = asked.trim_start_matches("inspect ").trim_start_matches("verify ");
                let watched = watched.trim_start_matches("read ").trim_end_matches(" and watch");
                match notice {
                    Notice::Deleted => format!("store: {watched} is gone"),
                    Notice::Changed => format!("store: {watched} changed"),
                }
            }
            Event::ServiceStarted { run } => format!("service {} serves", run.0),
            Event::ServiceFailed { run } => format!("service {} failed", run.0),
            Event::ServiceStopped { run } => format!("service {} stopped", run.0),
            Event::FenceSeen { fence } => format!("shown epoch {}", fence.epoch.0),
            Event::Resign => "asked to resign".into(),
            Event::Stand { willing: true } => "wants to lead".into(),
            Event::Stand { willing: false } => "wants to lead no more".into(),
            Event::Shutdown => "asked to end".into(),
            Event::Wake => "time".into(),
        }
    }
}

/// A value in the words of a trace.
struct Words<'a, T>(&'a T);

impl fmt::Display for Words<'_, Action> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Action::Store { request, .. } => write!(f, "{}", Words(request)),
            Action::OpenGate { fence, .. } => write!(f, "lead(epoch {})", fence.epoch.0),
            Action::CloseGate => f.write_str("close the gate"),
            Action::Floor(fence) => write!(f, "floor {}", fence.epoch.0),
            Action::StartService { run, role, .. } => write!(f, "start {} {}", name(*role), run.0),
            Action::StopService { run, .. } => write!(f, "stop service {}", run.0),
            Action::Announce(news) => write!(f, "{}", Words(news)),
            Action::RenewSession => f.write_str("renew the session"),
            Action::CloseSession => f.write_str("close the session"),
            Action::Exit => f.write_str("exit"),
            Action::Refuse(objection) => write!(f, "refuse: {objection:?}"),
            Action::StartAfresh(violation) => write!(f, "START AFRESH {violation:?}"),
            Action::Halt(violation) => write!(f, "HALT {violation:?}"),
        }
    }
}

impl fmt::Display for Words<'_, Announcement> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Announcement::Role(role) => write!(f, "now {}", name(*role)),
            Announcement::Leader(None) => f.write_str("no leader"),
            Announcement::Leader(Some(Leader::Node { id, epoch, .. })) => write!(f, "leader {id}@{}", epoch.0),
            Announcement::Leader(Some(Leader::Foreign { id })) => write!(f, "foreign leader {id}"),
            Announcement::SettingsChanged(settings) => write!(f, "settings are {settings}"),
            Announcement::Ownerless(candidate) => write!(f, "{} is nobody's", Words(candidate)),
            Announcement::Members { directory, difference } => {
                f.write_str(folder(*directory))?;
                difference.joined.iter().try_for_each(|member| write!(f, " +{}", member.key.id))?;
                difference.left.iter().try_for_each(|key| write!(f, " -{}", key.id))?;
                difference.changed.iter().try_for_each(|member| write!(f, " ~{}", member.key.id))
            }
        }
    }
}

impl fmt::Display for Words<'_, Request> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Request::Sync => f.write_str("sync"),
            Request::Queue(request) => write!(f, "{}", Words(request)),
            Request::Lease(request) => write!(f, "{}", Words(request)),
            Request::Term(TermRequest::Read) => f.write_str("read term"),
            Request::Directory(request) => write!(f, "{}", Words(request)),
            Request::Settings(SettingsRequest::Settle { .. }) => f.write_str("settle"),
            Request::Wish(WishRequest::Read { watch }) => write!(f, "read the wish{}", watching(*watch)),
            Request::Wish(WishRequest::Write { wish, .. }) => write!(f, "write the {}", Words(&**wish)),
        }
    }
}

impl fmt::Display for Words<'_, QueueRequest> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            QueueRequest::Enter { .. } => f.write_str("enter"),
            QueueRequest::List => f.write_str("list"),
            QueueRequest::Inspect { candidate, watch } => write!(f, "inspect {}{}", Words(candidate), watching(*watch)),
            QueueRequest::Delete { candidate } => write!(f, "delete {}", Words(candidate)),
            QueueRequest::Claim { candidate, .. } => write!(f, "claim with {}", Words(candidate)),
            QueueRequest::Beat { .. } => f.write_str("beat"),
        }
    }
}

impl fmt::Display for Words<'_, LeaseRequest> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            LeaseRequest::Peek { watch } => write!(f, "peek at the lease{}", watching(*watch)),
            LeaseRequest::Acquire { .. } => f.write_str("acquire the lease"),
            LeaseRequest::Renew { .. } => f.write_str("renew the lease"),
            LeaseRequest::Release { .. } => f.write_str("release the lease"),
        }
    }
}

impl fmt::Display for Words<'_, DirectoryRequest> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            DirectoryRequest::Join { directory, .. } => write!(f, "join {}", folder(*directory)),
            DirectoryRequest::Leave { directory, .. } => write!(f, "leave {}", folder(*directory)),
            DirectoryRequest::Verify { directory, .. } => write!(f, "verify own entry in {}", folder(*directory)),
            DirectoryRequest::Members { directory, watch } => {
                write!(f, "read {}{}", folder(*directory), watching(*watch))
            }
        }
    }
}

impl fmt::Display for Words<'_, Answer> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Answer::Done(reply) => write!(f, "{}", Words(reply)),
            Answer::Refused(Refusal::Missing) => f.write_str("missing"),
            Answer::Refused(Refusal::Malformed) => f.write_str("malformed"),
            Answer::Refused(Refusal::Exists) => f.write_str("exists"),
            Answer::Refused(Refusal::Overtaken) => f.write_str("overtaken"),
            Answer::Refused(Refusal::CandidateGone) => f.write_str("candidate gone"),
            Answer::Refused(Refusal::LeaseLost) => f.write_str("lease lost"),
            Answer::Refused(Refusal::OtherFamily) => f.write_str("no such election here"),
            Answer::Refused(Refusal::Disconnected) => f.write_str("not connected"),
            Answer::Refused(Refusal::SessionOver) => f.write_str("session over"),
            Answer::Refused(Refusal::Denied) => f.write_str("denied"),
            Answer::Unknown => f.write_str("outcome unknown"),
        }
    }
}

impl fmt::Display for Words<'_, Reply> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Reply::Queue(reply) => write!(f, "{}", Words(reply)),
            Reply::Lease(reply) => write!(f, "{}", Words(reply)),
            Reply::Term(record) => write!(f, "epoch {} of {}", record.fence.epoch.0, record.leader),
            Reply::Directory(reply) => write!(f, "{}", Words(reply)),
            Reply::Wish(WishReply::Nobodys) => f.write_str("nobody's"),
            Reply::Wish(WishReply::Malformed { .. }) => f.write_str("malformed"),
            Reply::Wish(WishReply::Found { wish, .. }) => write!(f, "{}", Words(&**wish)),
            Reply::Wish(WishReply::Written { .. }) => f.write_str("done"),
            Reply::Settings(_) | Reply::Synced => f.write_str("done"),
        }
    }
}

impl fmt::Display for Words<'_, Wish> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wish { aim, term, verdict, .. } = self.0;
        write!(f, "wish that epoch {} ", term.epoch.0)?;
        match aim {
            Aim::Resign => f.write_str("resigns"),
            Aim::Handover { to } => write!(f, "hands over to {to}"),
        }?;
        match verdict {
            None => Ok(()),
            Some(Verdict::Obeyed) => f.write_str(": obeyed"),
            Some(Verdict::Refused { reason }) => write!(f, ": refused, {reason}"),
            Some(Verdict::Withdrawn) => f.write_str(": withdrawn"),
        }
    }
}

impl fmt::Display for Words<'_, QueueReply> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            QueueReply::Candidates { candidates, .. } if candidates.is_empty() => f.write_str("nobody"),
            QueueReply::Candidates { candidates, .. } => {
                let mut rest = candidates.iter();
                rest.next().map_or(Ok(()), |first| write!(f, "{}", first.sequence))?;
                rest.try_for_each(|candidate| write!(f, " {}", candidate.sequence))
            }
            QueueReply::Entered(candidate) => write!(f, "{}", Words(candidate)),
            QueueReply::Candidate { owner, participant } => write!(f, "{participant}, session {}", owner.0),
            QueueReply::Claimed(Epoch(epoch)) => write!(f, "epoch {epoch}"),
            QueueReply::Deleted | QueueReply::Beaten => f.write_str("done"),
        }
    }
}

impl fmt::Display for Words<'_, LeaseReply> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            LeaseReply::Free => f.write_str("free"),
            LeaseReply::Held(Holding { id, epoch, left, .. }) => {
                write!(f, "{id} holds it with epoch {}, {} ms left", epoch.0, left.as_millis())
            }
            LeaseReply::Closed { left } => write!(f, "closed for {} ms", left.as_millis()),
            LeaseReply::Acquired(fence) => write!(f, "epoch {}", fence.epoch.0),
            LeaseReply::Renewed | LeaseReply::Released => f.write_str("done"),
        }
    }
}

impl fmt::Display for Words<'_, DirectoryReply> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            DirectoryReply::Registered { owner, .. } => write!(f, "there, session {}", owner.0),
            DirectoryReply::Members(Snapshot { members, .. }) if members.is_empty() => f.write_str("nobody"),
            DirectoryReply::Members(Snapshot { members, .. }) => {
                let mut rest = members.iter();
                rest.next().map_or(Ok(()), |first| write!(f, "{}", first.key.id))?;
                rest.try_for_each(|member| write!(f, " {}", member.key.id))
            }
            DirectoryReply::Joined | DirectoryReply::Left => f.write_str("done"),
        }
    }
}

impl fmt::Display for Words<'_, Candidate> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let foreign = if self.0.is_foreign() { "foreign " } else { "" };
        write!(f, "{foreign}candidate {}", self.0.sequence)
    }
}

fn watching(watch: bool) -> &'static str {
    if watch { " and watch" } else { "" }
}

fn name(role: Role) -> &'static str {
    match role {
        Role::None => "none",
        Role::Worker => "worker",
        Role::Leader => "leader",
    }
}

fn folder(directory: Directory) -> &'static str {
    match directory {
        Directory::Workers => "workers",
        Directory::Coordinators => "coordinators",
    }
}
