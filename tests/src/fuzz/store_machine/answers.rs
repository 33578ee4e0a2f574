//! Answers to requests on the tree, and acts of operators.

use core::time::Duration;
use std::sync::Arc;

use rolecall_core::store::{
    Act, Answer, Client, DirectoryReply, DirectoryRequest, Output, QueueReply, QueueRequest, Refusal, Reply, Request,
    SettingsRequest, TermRequest,
};
use rolecall_core::{Candidate, Directory, Epoch, Guid, MemberKey, Session, Snapshot};

use super::model::{Model, key};
use super::names::{
    BEAT, ELECTION, LITTER, SETTINGS, TERM, candidate_of, candidate_path, candidate_prefix, entry_data, entry_path,
    folder, member_of, term_data, term_of,
};

impl Model {
    pub(super) fn answer(
        &mut self,
        session: Session,
        client: &Client,
        timeout: Duration,
        request: &Request,
        out: &mut Vec<Output>,
    ) -> Answer {
        let done = match request {
            Request::Sync => Ok(Reply::Synced),
            Request::Queue(QueueRequest::Enter { guid }) => Ok(self.enter(Some(*guid), &client.id, session, out)),
            Request::Queue(QueueRequest::List) => Ok(self.list()),
            Request::Queue(QueueRequest::Inspect { candidate, .. }) => {
                self.tree.find(&candidate_path(candidate)).ok_or(Refusal::Missing).map(|node| {
                    Reply::Queue(QueueReply::Candidate {
                        owner: Session(node.owner),
                        participant: node.data.as_str().into(),
                    })
                })
            }
            Request::Queue(QueueRequest::Delete { candidate }) => {
                self.delete(&candidate_path(candidate), out).map(|()| Reply::Queue(QueueReply::Deleted))
            }
            Request::Queue(QueueRequest::Claim { candidate, incarnation, create }) => {
                let data = term_data(*incarnation, &client.id, &client.address);
                self.claim(candidate, data, *create, out)
            }
            Request::Queue(QueueRequest::Beat { candidate }) => self.beat(candidate, out),
            Request::Lease(_) => Err(Refusal::OtherFamily),
            Request::Wish(_) => unreachable!("the decoder makes none of these"),
            Request::Term(TermRequest::Read) => {
                self.tree.find(TERM).and_then(term_of).map(Reply::Term).ok_or(Refusal::Missing)
            }
            Request::Directory(DirectoryRequest::Join { session: named, .. }) if *named != session => {
                Err(Refusal::SessionOver)
            }
            Request::Directory(DirectoryRequest::Join { directory, session: named, epoch }) => {
                let data = entry_data(&client.address, *epoch, Some(timeout));
                let path = entry_path(*directory, &key(client, *named));
                if self.create(&path, data, session.0, out) {
                    Ok(Reply::Directory(DirectoryReply::Joined))
                } else {
                    Err(Refusal::Exists)
                }
            }
            Request::Directory(DirectoryRequest::Leave { directory, session }) => self
                .delete(&entry_path(*directory, &key(client, *session)), out)
                .map(|()| Reply::Directory(DirectoryReply::Left)),
            Request::Directory(DirectoryRequest::Verify { directory, session }) => {
                self.verify(*directory, &key(client, *session))
            }
            Request::Directory(DirectoryRequest::Members { directory, .. }) => Ok(self.members(*directory)),
            Request::Settings(SettingsRequest::Settle { settings }) => {
                self.create(SETTINGS, settings.to_string(), 0, out);
                let settings = self.tree.find(SETTINGS).map_or("", |node| &node.data);
                Ok(Reply::Settings(settings.into()))
            }
        };
        done.map_or_else(Answer::Refused, Answer::Done)
    }

    fn enter(&mut self, guid: Option<Guid>, participant: &Arc<str>, owner: Session, out: &mut Vec<Output>) -> Reply {
        let data = participant.to_string();
        let (sequence, happened) = self.tree.create_sequential(&candidate_prefix(guid), data, owner.0);
        self.tell(&happened, out);
        Reply::Queue(QueueReply::Entered(Candidate { sequence, guid }))
    }

    fn list(&self) -> Reply {
        let names: Vec<_> = self.tree.children(ELECTION).map(|(name, _)| candidate_of(name)).collect();
        let mut candidates: Vec<_> = names.iter().flatten().copied().collect();
        candidates.sort_unstable_by_key(|candidate| candidate.sequence);
        Reply::Queue(QueueReply::Candidates { skipped: count(names.len() - candidates.len()), candidates })
    }

    fn claim(
        &mut self,
        candidate: &Candidate,
        data: String,
        create: bool,
        out: &mut Vec<Output>,
    ) -> Result<Reply, Refusal> {
        self.check(candidate)?;
        if create {
            if !self.create(TERM, data, 0, out) {
                return Err(Refusal::Exists);
            }
        } else {
            let happened = self.tree.set(TERM, data).ok_or(Refusal::Missing)?;
            self.tell(&happened, out);
        }
        Ok(Reply::Queue(QueueReply::Claimed(Epoch(self.tree.zxid))))
    }

    fn beat(&mut self, candidate: &Candidate, out: &mut Vec<Output>) -> Result<Reply, Refusal> {
        self.check(candidate)?;
        if !self.create(BEAT, String::new(), 0, out) {
            self.tree.set(BEAT, String::new());
        }
        Ok(Reply::Queue(QueueReply::Beaten))
    }

    fn check(&self, candidate: &Candidate) -> Result<(), Refusal> {
        self.tree.find(&candidate_path(candidate)).map(|_| ()).ok_or(Refusal::CandidateGone)
    }

    fn verify(&self, directory: Directory, key: &MemberKey) -> Result<Reply, Refusal> {
        let path = entry_path(directory, key);
        let node = self.tree.find(&path).ok_or(Refusal::Missing)?;
        let name = path.rsplit_once('/').map_or("", |(_, name)| name);
        let member = member_of(name, node).expect("the model wrote it");
        Ok(Reply::Directory(DirectoryReply::Registered { owner: Session(node.owner), epoch: member.epoch }))
    }

    fn members(&self, directory: Directory) -> Reply {
        let entries: Vec<_> = self.tree.children(folder(directory)).map(|(name, node)| member_of(name, node)).collect();
        let mut members: Vec<_> = entries.iter().flatten().cloned().collect();
        members.sort_by(|one, other| one.key.cmp(&other.key));
        Reply::Directory(DirectoryReply::Members(Snapshot { skipped: count(entries.len() - members.len()), members }))
    }

    /// Creates a znode unless it exists. Returns true if it did.
    fn create(&mut self, path: &str, data: String, owner: u64, out: &mut Vec<Output>) -> bool {
        let is_new = self.tree.find(path).is_none();
        if is_new {
            let happened = self.tree.create(path, data, owner);
            self.tell(&happened, out);
        }
        is_new
    }

    fn delete(&mut self, path: &str, out: &mut Vec<Output>) -> Result<(), Refusal> {
        let happened = self.tree.delete(path).ok_or(Refusal::Missing)?;
        self.tell(&happened, out);
        Ok(())
    }

    fn rewrite(&mut self, path: &str, out: &mut Vec<Output>) {
        let Some(data) = self.tree.find(path).map(|node| node.data.clone()) else { return };
        let happened = self.tree.set(path, data).unwrap_or_default();
        self.tell(&happened, out);
    }

    pub(super) fn operate(&mut self, act: &Act, out: &mut Vec<Output>) {
        let living = |owner: Session| if self.clients.contains_key(&owner) { owner } else { Session(0) };
        match act {
            Act::AddCandidate { guid, participant, owner } => {
                let owner = living(*owner);
                self.enter(*guid, participant, owner, out);
            }
            Act::RewriteCandidate(candidate) => self.rewrite(&candidate_path(candidate), out),
            Act::DeleteCandidate(candidate) => _ = self.delete(&candidate_path(candidate), out),
            Act::LitterQueue => self.litter(ELECTION, out),
            Act::AddMember { directory, key, address, epoch, owner } => {
                let owner = living(*owner);
                self.create(&entry_path(*directory, key), entry_data(address, *epoch, None), owner.0, out);
            }
            Act::RewriteMember { directory, key } => self.rewrite(&entry_path(*directory, key), out),
            Act::DeleteMember { directory, key } => _ = self.delete(&entry_path(*directory, key), out),
            Act::LitterDirectory(directory) => self.litter(folder(*directory), out),
            Act::DeleteTerm => _ = self.delete(TERM, out),
            Act::SpoilTerm | Act::DeleteSettings | Act::Wish(_) | Act::SpoilWish | Act::DeleteWish => {
                unreachable!("the decoder makes none of these")
            }
        }
    }

    fn litter(&mut self, folder: &str, out: &mut Vec<Output>) {
        let (_, happened) = self.tree.create_sequential(&format!("{folder}/{LITTER}"), String::new(), 0);
        self.tell(&happened, out);
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
