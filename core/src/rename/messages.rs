//! Renaming of the messages between nodes, their drivers and the store.

use super::{Rename, Renamer, RevisionKind, TimeKind};
use crate::store::{
    Answer, DirectoryReply, DirectoryRequest, LeaseReply, LeaseRequest, QueueReply, QueueRequest, Reply, Request,
    SettingsRequest, TermRecord, TermRequest, Wish, WishReply, WishRequest,
};
use crate::{Action, Announcement, Difference, Event, Fence, Leader, Member, MemberKey, Snapshot};

impl Rename for Event {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::SessionUp { session, .. } => renamer.session(session),
            Self::Answered { id, answer } => {
                renamer.operation(id);
                answer.rename(renamer);
            }
            Self::Noticed { id, .. } => renamer.operation(id),
            Self::ServiceStarted { run } | Self::ServiceFailed { run } | Self::ServiceStopped { run } => {
                renamer.run(run)
            }
            Self::FenceSeen { fence } => fence.rename(renamer),
            Self::Suspended | Self::SessionLost | Self::Resign | Self::Stand { .. } | Self::Shutdown | Self::Wake => {}
        }
    }
}

impl Rename for Action {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Store { id, request } => {
                renamer.operation(id);
                request.rename(renamer);
            }
            Self::OpenGate { fence, until } => {
                fence.rename(renamer);
                renamer.time(TimeKind::Limit, until);
            }
            Self::Floor(fence) => fence.rename(renamer),
            Self::StartService { run, fence, .. } => {
                renamer.run(run);
                fence.rename(renamer);
            }
            Self::StopService { run, drain_until } => {
                renamer.run(run);
                renamer.time(TimeKind::Limit, drain_until);
            }
            Self::Announce(Announcement::Leader(leader)) => leader.rename(renamer),
            Self::Announce(Announcement::Members { difference, .. }) => difference.rename(renamer),
            Self::Announce(Announcement::Ownerless(candidate)) => candidate.rename(renamer),
            Self::Announce(Announcement::Role(_) | Announcement::SettingsChanged(_))
            | Self::CloseGate
            | Self::RenewSession
            | Self::CloseSession
            | Self::Exit
            | Self::Refuse(_)
            | Self::StartAfresh(_)
            | Self::Halt(_) => {}
        }
    }
}

impl Rename for Leader {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Node { epoch, .. } => renamer.revision(RevisionKind::Epoch, &mut epoch.0),
            Self::Foreign { .. } => {}
        }
    }
}

impl Rename for Difference {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.joined.rename(renamer);
        self.left.rename(renamer);
        self.changed.rename(renamer);
    }
}

impl Rename for Request {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Queue(request) => request.rename(renamer),
            Self::Directory(request) => request.rename(renamer),
            Self::Lease(request) => request.rename(renamer),
            Self::Wish(request) => request.rename(renamer),
            Self::Sync | Self::Term(TermRequest::Read) | Self::Settings(SettingsRequest::Settle { .. }) => {}
        }
    }
}

impl Rename for QueueRequest {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Enter { guid } => renamer.guid(guid),
            Self::Claim { candidate, incarnation, .. } => {
                candidate.rename(renamer);
                renamer.incarnation(incarnation);
            }
            Self::Inspect { candidate, .. } | Self::Delete { candidate } | Self::Beat { candidate } => {
                candidate.rename(renamer);
            }
            Self::List => {}
        }
    }
}

impl Rename for LeaseRequest {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Acquire { token, incarnation, .. } => {
                token.rename(renamer);
                renamer.incarnation(incarnation);
            }
            Self::Renew { token, .. } | Self::Release { token } => token.rename(renamer),
            Self::Peek { .. } => {}
        }
    }
}

impl Rename for DirectoryRequest {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Join { session, epoch, .. } => {
                renamer.session(session);
                if let Some(epoch) = epoch {
                    renamer.revision(RevisionKind::Epoch, &mut epoch.0);
                }
            }
            Self::Leave { session, .. } | Self::Verify { session, .. } => renamer.session(session),
            Self::Members { .. } => {}
        }
    }
}

impl Rename for WishRequest {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Write { wish, .. } => wish.rename(renamer),
            Self::Read { .. } => {}
        }
    }
}

impl Rename for Answer {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Done(reply) => reply.rename(renamer),
            Self::Refused(_) | Self::Unknown => {}
        }
    }
}

impl Rename for Reply {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Queue(reply) => reply.rename(renamer),
            Self::Lease(reply) => reply.rename(renamer),
            Self::Term(record) => record.rename(renamer),
            Self::Directory(reply) => reply.rename(renamer),
            Self::Wish(reply) => reply.rename(renamer),
            Self::Synced | Self::Settings(_) => {}
        }
    }
}

impl Rename for QueueReply {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Entered(candidate) => candidate.rename(renamer),
            Self::Candidates { candidates, .. } => candidates.rename(renamer),
            Self::Candidate { owner, .. } => renamer.session(owner),
            Self::Claimed(epoch) => renamer.revision(RevisionKind::Epoch, &mut epoch.0),
            Self::Deleted | Self::Beaten => {}
        }
    }
}

impl Rename for LeaseReply {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Held(holding) => {
                holding.token.rename(renamer);
                renamer.session(&mut holding.owner);
                renamer.revision(RevisionKind::Epoch, &mut holding.epoch.0);
            }
            Self::Acquired(fence) => fence.rename(renamer),
            Self::Free | Self::Closed { .. } | Self::Renewed | Self::Released => {}
        }
    }
}

impl Rename for DirectoryReply {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Registered { owner, epoch } => {
                renamer.session(owner);
                if let Some(epoch) = epoch {
                    renamer.revision(RevisionKind::Epoch, &mut epoch.0);
                }
            }
            Self::Members(snapshot) => snapshot.rename(renamer),
            Self::Joined | Self::Left => {}
        }
    }
}

impl Rename for WishReply {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Found { wish, .. } => wish.rename(renamer),
            Self::Nobodys | Self::Malformed { .. } | Self::Written { .. } => {}
        }
    }
}

impl Rename for Wish {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.term.rename(renamer);
    }
}

impl Rename for TermRecord {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.fence.rename(renamer);
    }
}

impl Rename for Fence {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        renamer.incarnation(&mut self.incarnation);
        renamer.revision(RevisionKind::Epoch, &mut self.epoch.0);
    }
}

impl Rename for Snapshot {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.members.rename(renamer);
    }
}

impl Rename for Member {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.key.rename(renamer);
        if let Some(epoch) = &mut self.epoch {
            renamer.revision(RevisionKind::Epoch, &mut epoch.0);
        }
        renamer.revision(RevisionKind::Created, &mut self.created);
    }
}

impl Rename for MemberKey {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        renamer.session(&mut self.session);
    }
}
