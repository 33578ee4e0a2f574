//! Store that knows a single node.

use core::task::{Context, Poll};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::task::Waker;

use rolecall_core::store::{
    Answer, DirectoryReply, DirectoryRequest, Notice, QueueReply, QueueRequest, Refusal, Reply, Request,
    SettingsRequest, TermRecord, TermRequest, WishReply,
};
use rolecall_core::{Candidate, Directory, Epoch, Family, Fence, Member, MemberKey, OpId, Session, Snapshot};

use super::TIMEOUT;
use crate::store::{Store, StoreEvent};

/// Store for one node, which answers at once and does what the test says. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct LoneStore(Arc<Mutex<Lone>>);

#[derive(Debug, Default)]
pub(super) struct Lone {
    pub(super) events: VecDeque<StoreEvent>,
    waker: Option<Waker>,
    pub(super) session: Session,
    revision: u64,
    pub(super) candidates: BTreeMap<Candidate, Session>,
    pub(super) term: Option<Fence>,
    pub(super) entries: BTreeMap<(Directory, Session), Option<Epoch>>,
    watches: Vec<(Directory, OpId)>,
    pub(super) closed: bool,
    /// Number of requests to settle that get no certain answer.
    pub(super) unsettled: u32,
}

impl LoneStore {
    pub(super) fn with<T>(&self, change: impl FnOnce(&mut Lone) -> T) -> T {
        let mut lone = self.0.lock().expect("no test panics while it holds this");
        let value = change(&mut lone);
        if let Some(waker) = lone.waker.take() {
            waker.wake();
        }
        value
    }

    pub(super) fn connect(&self, session: u64) {
        self.with(|lone| {
            lone.session = Session(session);
            lone.events.push_back(StoreEvent::Up { session: Session(session), timeout: TIMEOUT });
        });
    }

    pub(super) fn lose_session(&self) {
        self.with(|lone| {
            lone.candidates.clear();
            lone.entries.clear();
            lone.events.push_back(StoreEvent::Lost);
        });
    }
}

impl Lone {
    fn notice(&mut self, directory: Directory) {
        for (_, id) in self.watches.extract_if(.., |(watched, _)| *watched == directory) {
            self.events.push_back(StoreEvent::Noticed { id, notice: Notice::Changed });
        }
    }

    fn answer(&mut self, id: OpId, request: Request) -> Answer {
        let missing = Answer::Refused(Refusal::Missing);
        match request {
            Request::Sync => Answer::Done(Reply::Synced),
            Request::Queue(QueueRequest::Enter { guid }) => {
                self.revision += 1;
                let candidate = Candidate { sequence: i64::try_from(self.revision).unwrap_or(0), guid: Some(guid) };
                self.candidates.insert(candidate, self.session);
                Answer::Done(Reply::Queue(QueueReply::Entered(candidate)))
            }
            Request::Queue(QueueRequest::List) => Answer::Done(Reply::Queue(QueueReply::Candidates {
                candidates: self.candidates.keys().copied().collect(),
                skipped: 0,
            })),
            Request::Queue(QueueRequest::Inspect { candidate, .. }) => {
                self.candidates.get(&candidate).map_or(missing, |owner| {
                    Answer::Done(Reply::Queue(QueueReply::Candidate { owner: *owner, participant: "node-a".into() }))
                })
            }
            Request::Queue(QueueRequest::Delete { candidate }) => {
                self.candidates.remove(&candidate).map_or(missing, |_| Answer::Done(Reply::Queue(QueueReply::Deleted)))
            }
            Request::Queue(QueueRequest::Claim { candidate, .. }) if !self.candidates.contains_key(&candidate) => {
                Answer::Refused(Refusal::CandidateGone)
            }
            Request::Queue(QueueRequest::Claim { create, .. }) if create == self.term.is_some() => {
                Answer::Refused(if create { Refusal::Exists } else { Refusal::Missing })
            }
            Request::Queue(QueueRequest::Claim { incarnation, .. }) => {
                self.revision += 1;
                self.term = Some(Fence { incarnation, epoch: Epoch(self.revision) });
                Answer::Done(Reply::Queue(QueueReply::Claimed(Epoch(self.revision))))
            }
            Request::Queue(QueueRequest::Beat { candidate }) if self.candidates.contains_key(&candidate) => {
                Answer::Done(Reply::Queue(QueueReply::Beaten))
            }
            Request::Queue(QueueRequest::Beat { .. }) => Answer::Refused(Refusal::CandidateGone),
            Request::Lease(_) => Answer::Refused(Refusal::OtherFamily),
            Request::Term(TermRequest::Read) => self.term.map_or(missing, |fence| {
                Answer::Done(Reply::Term(TermRecord { fence, leader: "node-a".into(), address: "a:1".into() }))
            }),
            Request::Directory(DirectoryRequest::Join { directory, session, epoch }) => {
                self.notice(directory);
                self.entries.insert((directory, session), epoch);
                Answer::Done(Reply::Directory(DirectoryReply::Joined))
            }
            Request::Directory(DirectoryRequest::Leave { directory, session }) => {
                self.notice(directory);
                self.entries
                    .remove(&(directory, session))
                    .map_or(missing, |_| Answer::Done(Reply::Directory(DirectoryReply::Left)))
            }
            Request::Directory(DirectoryRequest::Verify { directory, session }) => {
                self.entries.get(&(directory, session)).map_or(missing, |epoch| {
                    Answer::Done(Reply::Directory(DirectoryReply::Registered { owner: session, epoch: *epoch }))
                })
            }
            Request::Directory(DirectoryRequest::Members { directory, watch }) => {
                if watch {
                    self.watches.push((directory, id));
                }
                let entries = self.entries.iter().filter(|((of, _), _)| *of == directory);
                let members = entries.map(|((_, session), epoch)| member(*session, *epoch)).collect();
                Answer::Done(Reply::Directory(DirectoryReply::Members(Snapshot { members, skipped: 0 })))
            }
            Request::Settings(SettingsRequest::Settle { .. }) if self.unsettled > 0 => {
                self.unsettled -= 1;
                Answer::Unknown
            }
            Request::Settings(SettingsRequest::Settle { settings }) => Answer::Done(Reply::Settings(settings)),
            Request::Wish(_) => Answer::Done(Reply::Wish(WishReply::Nobodys)),
        }
    }
}

fn member(session: Session, epoch: Option<Epoch>) -> Member {
    let key = MemberKey { id: "node-a".into(), session };
    Member { key, address: "a:1".into(), epoch, session_timeout: None, created: 1, metadata: Default::default() }
}

impl Store for LoneStore {
    fn family(&self) -> Family {
        Family::Queue
    }

    fn send(&mut self, id: OpId, request: Request) {
        self.with(|lone| {
            let answer = lone.answer(id, request);
            lone.events.push_back(StoreEvent::Answered { id, answer });
        });
    }

    fn renew(&mut self) {
        self.lose_session();
    }

    fn close(&mut self) {
        self.with(|lone| {
            lone.closed = true;
            lone.candidates.clear();
            lone.events.push_back(StoreEvent::Closed);
        });
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<StoreEvent> {
        let mut lone = self.0.lock().expect("no test panics while it holds this");
        match lone.events.pop_front() {
            Some(event) => Poll::Ready(event),
            None => {
                lone.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
