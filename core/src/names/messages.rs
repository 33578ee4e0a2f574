//! Renaming of the messages between nodes, their drivers and the store.

use super::{Moment, Named, Names, Revision};
use crate::store::{
    Answer, DirectoryReply, DirectoryRequest, QueueReply, QueueRequest, Reply, Request, SettingsRequest, TermRecord,
    TermRequest,
};
use crate::{Action, Announcement, Difference, Event, Fence, Leader, Member, MemberKey, Snapshot};

impl Named for Event {
    fn names(&mut self, names: &mut dyn Names) {
        match self {
            Self::SessionUp { session, .. } => names.session(session),
            Self::Answered { id, answer } => {
                names.operation(id);
                answer.names(names);
            }
            Self::Noticed { id, .. } => names.operation(id),
            Self::ServiceStarted { run } | Self::ServiceFailed { run } | Self::ServiceStopped { run } => names.run(run),
            Self::FenceSeen { fence } => fence.names(names),
            Self::Suspended | Self::SessionLost | Self::Resign | Self::Stand { .. } | Self::Shutdown | Self::Wake => {}
        }
    }
}

impl Named for Action {
    fn names(&mut self, names: &mut dyn Names) {
        match self {
            Self::Store { id, request } => {
                names.operation(id);
                request.names(names);
            }
            Self::OpenGate { fence, until } => {
                fence.names(names);
                names.time(Moment::Limit, until);
            }
            Self::Floor(fence) => fence.names(names),
            Self::StartService { run, fence, .. } => {
                names.run(run);
                fence.names(names);
            }
            Self::StopService { run, drain_until } => {
                names.run(run);
                names.time(Moment::Limit, drain_until);
            }
            Self::Announce(Announcement::Leader(leader)) => leader.names(names),
            Self::Announce(Announcement::Members { difference, .. }) => difference.names(names),
            Self::Announce(Announcement::Ownerless(candidate)) => candidate.names(names),
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

impl Named for Leader {
    fn names(&mut self, names: &mut dyn Names) {
        match self {
            Self::Node { epoch, .. } => names.revision(Revision::Epoch, &mut epoch.0),
            Self::Foreign { .. } => {}
        }
    }
}

impl Named for Difference {
    fn names(&mut self, names: &mut dyn Names) {
        self.joined.names(names);
        self.left.names(names);
        self.changed.names(names);
    }
}

impl Named for Request {
    fn names(&mut self, names: &mut dyn Names) {
        match self {
            Self::Queue(request) => request.names(names),
            Self::Directory(request) => request.names(names),
            Self::Sync | Self::Term(TermRequest::Read) | Self::Settings(SettingsRequest::Settle { .. }) => {}
        }
    }
}

impl Named for QueueRequest {
    fn names(&mut self, names: &mut dyn Names) {
        match self {
            Self::Enter { guid } => names.guid(guid),
            Self::Inspect { candidate, .. }
            | Self::Delete { candidate }
            | Self::Claim { candidate, .. }
            | Self::Beat { candidate } => candidate.names(names),
            Self::List => {}
        }
    }
}

impl Named for DirectoryRequest {
    fn names(&mut self, names: &mut dyn Names) {
        match self {
            Self::Join { session, epoch, .. } => {
                names.session(session);
                if let Some(epoch) = epoch {
                    names.revision(Revision::Epoch, &mut epoch.0);
                }
            }
            Self::Leave { session, .. } | Self::Verify { session, .. } => names.session(session),
            Self::Members { .. } => {}
        }
    }
}

impl Named for Answer {
    fn names(&mut self, names: &mut dyn Names) {
        match self {
            Self::Done(reply) => reply.names(names),
            Self::Refused(_) | Self::Unknown => {}
        }
    }
}

impl Named for Reply {
    fn names(&mut self, names: &mut dyn Names) {
        match self {
            Self::Queue(reply) => reply.names(names),
            Self::Term(record) => record.names(names),
            Self::Directory(reply) => reply.names(names),
            Self::Synced | Self::Settings(_) => {}
        }
    }
}

impl Named for QueueReply {
    fn names(&mut self, names: &mut dyn Names) {
        match self {
            Self::Entered(candidate) => candidate.names(names),
            Self::Candidates { candidates, .. } => candidates.names(names),
            Self::Candidate { owner, .. } => names.session(owner),
            Self::Claimed(epoch) => names.revision(Revision::Epoch, &mut epoch.0),
            Self::Deleted | Self::Beaten => {}
        }
    }
}

impl Named for DirectoryReply {
    fn names(&mut self, names: &mut dyn Names) {
        match self {
            Self::Registered { owner, epoch } => {
                names.session(owner);
                if let Some(epoch) = epoch {
                    names.revision(Revision::Epoch, &mut epoch.0);
                }
            }
            Self::Members(snapshot) => snapshot.names(names),
            Self::Joined | Self::Left => {}
        }
    }
}

impl Named for TermRecord {
    fn names(&mut self, names: &mut dyn Names) {
        self.fence.names(names);
    }
}

impl Named for Fence {
    fn names(&mut self, names: &mut dyn Names) {
        names.revision(Revision::Epoch, &mut self.epoch.0);
    }
}

impl Named for Snapshot {
    fn names(&mut self, names: &mut dyn Names) {
        self.members.names(names);
    }
}

impl Named for Member {
    fn names(&mut self, names: &mut dyn Names) {
        self.key.names(names);
        if let Some(epoch) = &mut self.epoch {
            names.revision(Revision::Epoch, &mut epoch.0);
        }
        names.revision(Revision::Created, &mut self.created);
    }
}

impl Named for MemberKey {
    fn names(&mut self, names: &mut dyn Names) {
        names.session(&mut self.session);
    }
}
