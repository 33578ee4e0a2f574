//! The store's data: reads of it, and the transactions that change it.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::directory::Entries;
use super::lease::{Caller, LeaseMachine, Life, Reading};
use super::queue::Queue;
use super::wish::WishPlace;
use super::{
    Act, Answer, Client, DirectoryReply, DirectoryRequest, LeaseReply, LeaseRequest, QueueReply, QueueRequest, Refusal,
    Reply, Request, SettingsRequest, TermRecord, TermRequest, WishRequest,
};
use crate::{Candidate, Directory, Epoch, Family, Fence, Incarnation, Member, MemberKey, Metadata, Session};

/// The sender of a request.
#[derive(Clone, Debug)]
pub(super) struct Author {
    pub(super) session: Session,
    pub(super) client: Client,
    pub(super) timeout: Duration,
    /// The server that carries the request out.
    pub(super) reading: Reading,
}

/// The data of one cluster at one revision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Tree {
    /// Revision of the last commit that changed something (ZooKeeper: the last `zxid`).
    pub(super) revision: u64,
    pub(super) queue: Queue,
    /// The lease, where the store keeps one instead of a queue.
    pub(super) lease: Option<LeaseMachine>,
    /// Revision at which the lease was last given up.
    pub(super) given_up: u64,
    pub(super) term: Option<TermRecord>,
    /// True if something that is not a record stands in its place.
    pub(super) term_is_spoilt: bool,
    /// True once a beat was written. Nobody reads its content.
    pub(super) beaten: bool,
    pub(super) workers: Entries,
    pub(super) coordinators: Entries,
    pub(super) settings: Option<Arc<str>>,
    pub(super) wish: WishPlace,
}

impl Tree {
    /// The data of a store that is new.
    pub(super) fn founded(family: Family) -> Self {
        let lease = match family {
            Family::Queue => None,
            Family::Lease => Some(LeaseMachine::founded(Life::FIRST)),
        };
        Self { lease, ..Self::default() }
    }

    /// The data of a store that has lost all it had.
    pub(super) fn of(family: Family) -> Self {
        let lease = match family {
            Family::Queue => None,
            Family::Lease => Some(LeaseMachine::default()),
        };
        Self { lease, ..Self::default() }
    }

    pub(super) const fn family(&self) -> Family {
        if self.lease.is_some() { Family::Lease } else { Family::Queue }
    }

    pub(super) const fn directory(&self, directory: Directory) -> &Entries {
        match directory {
            Directory::Workers => &self.workers,
            Directory::Coordinators => &self.coordinators,
        }
    }

    /// Answers a read. Refuses a write, which cannot change anything here.
    pub(super) fn read(&self, author: &Author, request: &Request) -> Answer {
        let reply = match request {
            Request::Sync => Some(Reply::Synced),
            Request::Queue(_) if self.lease.is_some() => return Answer::Refused(Refusal::OtherFamily),
            Request::Queue(QueueRequest::List) => Some(Reply::Queue(self.queue.list())),
            Request::Queue(QueueRequest::Inspect { candidate, .. }) => {
                self.queue.find(candidate).map(|contender| Reply::Queue(contender.shown()))
            }
            Request::Term(TermRequest::Read) if self.term_is_spoilt => return Answer::Refused(Refusal::Malformed),
            Request::Term(TermRequest::Read) => self.term.clone().map(Reply::Term),
            Request::Directory(DirectoryRequest::Verify { directory, session }) => {
                let key = MemberKey { id: author.client.id.clone(), session: *session };
                self.directory(*directory).find(&key).map(|entry| Reply::Directory(entry.shown()))
            }
            Request::Directory(DirectoryRequest::Members { directory, .. }) => {
                Some(Reply::Directory(DirectoryReply::Members(self.directory(*directory).snapshot())))
            }
            Request::Wish(WishRequest::Read { .. }) => Some(Reply::Wish(self.wish.shown())),
            Request::Lease(_) => return Answer::Refused(Refusal::OtherFamily),
            Request::Queue(_)
            | Request::Directory(_)
            | Request::Settings(_)
            | Request::Wish(WishRequest::Write { .. }) => {
                return Answer::Refused(Refusal::Denied);
            }
        };
        reply.map_or(Answer::Refused(Refusal::Missing), Answer::Done)
    }

    /// Carries out a write, or does nothing. Refuses a read.
    pub(super) fn write(&mut self, author: &Author, request: &Request) -> Answer {
        let done = match request {
            Request::Queue(_) if self.lease.is_some() => Err(Refusal::OtherFamily),
            Request::Queue(request) => self.write_queue(author, request).map(Reply::Queue),
            Request::Lease(request) => return self.ask_lease(author, request),
            Request::Directory(request) => self.write_directory(author, request).map(Reply::Directory),
            Request::Settings(SettingsRequest::Settle { settings }) => Ok(Reply::Settings(self.settle(settings))),
            Request::Wish(WishRequest::Write { wish, over }) => {
                let revision = self.revision + 1;
                let written = self.wish.write(wish, *over, revision);
                if written.is_ok() {
                    self.revision = revision;
                }
                written.map(Reply::Wish)
            }
            Request::Sync | Request::Term(TermRequest::Read) | Request::Wish(WishRequest::Read { .. }) => {
                Err(Refusal::Denied)
            }
        };
        done.map_or_else(Answer::Refused, Answer::Done)
    }

    /// Carries out a request about the lease. Even a read lets the lease's clock go on.
    fn ask_lease(&mut self, author: &Author, request: &LeaseRequest) -> Answer {
        let Some(lease) = &mut self.lease else { return Answer::Refused(Refusal::OtherFamily) };
        let Client { id, address, .. } = &author.client;
        let caller = Caller { session: author.session, id: id.clone(), timeout: author.timeout };
        // Its watches are kept with those of the directories.
        let unwatched = LeaseRequest::Peek { watch: false };
        let request = if let LeaseRequest::Peek { .. } = request { &unwatched } else { request };
        let answer = lease.handle(author.reading, &caller, request, &mut Vec::new());
        match &answer {
            Answer::Done(Reply::Lease(LeaseReply::Acquired(fence))) => {
                self.revision += 1;
                self.term_is_spoilt = false;
                self.term = Some(TermRecord { fence: *fence, leader: id.clone(), address: address.clone() });
            }
            Answer::Done(Reply::Lease(LeaseReply::Renewed)) => self.revision += 1,
            Answer::Done(Reply::Lease(LeaseReply::Released)) => self.note_given_up(),
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => {}
        }
        answer
    }

    /// Gives up the lease of a session that is closed in good order.
    pub(super) fn close(&mut self, owner: Session) {
        let Some(lease) = &mut self.lease else { return };
        let held = lease.holder().is_some_and(|holding| holding.owner == owner);
        lease.close_session(owner, &mut Vec::new());
        if held {
            self.note_given_up();
        }
    }

    /// Ends the lease as if its time had passed.
    pub(super) fn lapse(&mut self) {
        if let Some(lease) = &mut self.lease {
            lease.lapse();
            self.revision += 1;
        }
    }

    fn note_given_up(&mut self) {
        self.given_up = self.advance();
    }

    fn write_queue(&mut self, author: &Author, request: &QueueRequest) -> Result<QueueReply, Refusal> {
        match request {
            QueueRequest::Enter { guid } => {
                let revision = self.advance();
                let id = author.client.id.clone();
                Ok(QueueReply::Entered(self.queue.enter(Some(*guid), id, author.session, revision)))
            }
            QueueRequest::Delete { candidate } => self.delete(candidate),
            QueueRequest::Claim { candidate, incarnation, create } => {
                self.claim(author, candidate, *incarnation, *create)
            }
            QueueRequest::Beat { candidate } => self.beat(candidate),
            QueueRequest::List | QueueRequest::Inspect { .. } => Err(Refusal::Denied),
        }
    }

    fn write_directory(&mut self, author: &Author, request: &DirectoryRequest) -> Result<DirectoryReply, Refusal> {
        match request {
            DirectoryRequest::Join { directory, session, epoch } => self.join(author, *directory, *session, *epoch),
            DirectoryRequest::Leave { directory, session } => {
                let key = MemberKey { id: author.client.id.clone(), session: *session };
                if self.remove(*directory, &key) { Ok(DirectoryReply::Left) } else { Err(Refusal::Missing) }
            }
            DirectoryRequest::Verify { .. } | DirectoryRequest::Members { .. } => Err(Refusal::Denied),
        }
    }

    /// Carries out an operator's act. Entries that do not exist are left alone. `owner` is the live session that owns
    /// an added entry.
    pub(super) fn operate(&mut self, act: Act, owner: Session) {
        let revision = self.revision + 1;
        let changed = match act {
            Act::AddCandidate { guid, participant, owner: _ } => {
                self.queue.enter(guid, participant, owner, revision);
                true
            }
            Act::RewriteCandidate(candidate) => self.queue.rewrite(&candidate, revision),
            Act::DeleteCandidate(candidate) => self.queue.delete(&candidate),
            Act::LitterQueue => {
                self.queue.litter();
                true
            }
            Act::AddMember { directory, key, address, epoch, owner: _ } => {
                let member = Member {
                    key,
                    address,
                    epoch,
                    session_timeout: None,
                    created: revision,
                    metadata: Metadata::default(),
                };
                self.directory_mut(directory).add(member, owner)
            }
            Act::RewriteMember { directory, key } => self.directory_mut(directory).rewrite(&key, revision),
            Act::DeleteMember { directory, key } => self.directory_mut(directory).remove(&key, revision),
            Act::LitterDirectory(directory) => {
                self.directory_mut(directory).litter(revision);
                true
            }
            Act::DeleteTerm => self.term.take().is_some() | core::mem::take(&mut self.term_is_spoilt),
            Act::SpoilTerm => {
                self.term = None;
                self.term_is_spoilt = true;
                true
            }
            Act::DeleteSettings => self.settings.take().is_some(),
            Act::Wish(wish) => self.wish.put(wish, revision),
            Act::SpoilWish => self.wish.spoil(revision),
            Act::DeleteWish => self.wish.delete(revision),
        };
        if changed {
            self.revision = revision;
        }
    }

    /// Deletes everything that a session owns, in one commit.
    pub(super) fn release(&mut self, owner: Session) {
        let owns = self.queue.contenders.iter().any(|contender| contender.owner == owner)
            || [&self.workers, &self.coordinators].iter().any(|d| d.entries.iter().any(|entry| entry.owner == owner));
        if owns {
            let revision = self.advance();
            self.queue.contenders.retain(|contender| contender.owner != owner);
            self.workers.release(owner, revision);
            self.coordinators.release(owner, revision);
        }
    }

    /// Deletes everything that any session owns.
    pub(super) fn release_all(&mut self) {
        let entries = self.workers.entries.iter().chain(&self.coordinators.entries);
        let owners: Vec<Session> = entries.map(|entry| entry.owner).filter(|owner| *owner != Session::NOBODY).collect();
        owners.into_iter().for_each(|owner| self.release(owner));
    }

    fn delete(&mut self, candidate: &Candidate) -> Result<QueueReply, Refusal> {
        if !self.queue.delete(candidate) {
            return Err(Refusal::Missing);
        }
        self.advance();
        Ok(QueueReply::Deleted)
    }

    fn claim(
        &mut self,
        author: &Author,
        candidate: &Candidate,
        incarnation: Incarnation,
        create: bool,
    ) -> Result<QueueReply, Refusal> {
        if self.queue.find(candidate).is_none() {
            return Err(Refusal::CandidateGone);
        }
        match (create, self.term.is_some() || self.term_is_spoilt) {
            (true, true) => return Err(Refusal::Exists),
            (false, false) => return Err(Refusal::Missing),
            (true, false) | (false, true) => {}
        }
        let epoch = Epoch(self.advance());
        self.term_is_spoilt = false;
        self.term = Some(TermRecord {
            fence: Fence { incarnation, epoch },
            leader: author.client.id.clone(),
            address: author.client.address.clone(),
        });
        Ok(QueueReply::Claimed(epoch))
    }

    fn beat(&mut self, candidate: &Candidate) -> Result<QueueReply, Refusal> {
        if self.queue.find(candidate).is_none() {
            return Err(Refusal::CandidateGone);
        }
        self.advance();
        self.beaten = true;
        Ok(QueueReply::Beaten)
    }

    fn join(
        &mut self,
        author: &Author,
        directory: Directory,
        session: Session,
        epoch: Option<Epoch>,
    ) -> Result<DirectoryReply, Refusal> {
        if session != author.session {
            return Err(Refusal::SessionOver);
        }
        let created = self.revision + 1;
        let member = Member {
            key: MemberKey { id: author.client.id.clone(), session },
            address: author.client.address.clone(),
            epoch,
            session_timeout: Some(author.timeout),
            created,
            metadata: author.client.metadata.clone(),
        };
        if !self.directory_mut(directory).add(member, author.session) {
            return Err(Refusal::Exists);
        }
        self.revision = created;
        Ok(DirectoryReply::Joined)
    }

    fn remove(&mut self, directory: Directory, key: &MemberKey) -> bool {
        let revision = self.revision + 1;
        let removed = self.directory_mut(directory).remove(key, revision);
        if removed {
            self.revision = revision;
        }
        removed
    }

    fn settle(&mut self, settings: &Arc<str>) -> Arc<str> {
        if self.settings.is_none() {
            self.advance();
        }
        self.settings.get_or_insert_with(|| settings.clone()).clone()
    }

    const fn directory_mut(&mut self, directory: Directory) -> &mut Entries {
        match directory {
            Directory::Workers => &mut self.workers,
            Directory::Coordinators => &mut self.coordinators,
        }
    }

    const fn advance(&mut self) -> u64 {
        self.revision += 1;
        self.revision
    }
}
