//! A test's caller of a store, which sends requests and waits for events.

use core::future::poll_fn;
use core::time::Duration;
use std::collections::VecDeque;

use rolecall::store::{Store, StoreEvent};
use rolecall_core::store::{
    Answer, DirectoryReply, DirectoryRequest, LeaseRequest, Notice, QueueReply, QueueRequest, Reply, Request,
    SettingsRequest, TermRequest,
};
use rolecall_core::{Candidate, Guid, Link, OpId, Session, Slot, Snapshot};
use tokio::time::timeout;

use crate::wait::LIMIT;

/// Sends requests to a store and waits for their answers. Events that nobody waits for are kept for later, in order.
#[derive(Debug)]
pub struct Asker<S> {
    /// The store.
    pub store: S,
    sequence: u32,
    kept: VecDeque<StoreEvent>,
}

impl<S: Store> Asker<S> {
    /// Creates a caller of `store`.
    pub fn new(store: S) -> Self {
        Self { store, sequence: 0, kept: VecDeque::new() }
    }

    /// Sends a request without waiting.
    pub fn send(&mut self, request: Request) -> OpId {
        self.sequence += 1;
        let id = OpId { link: Link(0), slot: slot(&request), sequence: self.sequence };
        self.store.send(id, request);
        id
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Panics
    /// If no answer comes within [`LIMIT`].
    pub async fn ask(&mut self, request: Request) -> Answer {
        let id = self.send(request);
        self.answer(id).await
    }

    /// Sends a request that must succeed.
    ///
    /// # Panics
    /// If it fails.
    pub async fn done(&mut self, request: Request) -> Reply {
        let text = format!("{request:?}");
        match self.ask(request).await {
            Answer::Done(reply) => reply,
            answer @ (Answer::Refused(_) | Answer::Unknown) => panic!("{text} was answered by {answer:?}"),
        }
    }

    /// Enters the election.
    ///
    /// # Panics
    /// If that fails.
    pub async fn enter(&mut self, random: u128) -> Candidate {
        let reply = self.done(Request::Queue(QueueRequest::Enter { guid: Guid::ours(random) })).await;
        let Reply::Queue(QueueReply::Entered(candidate)) = reply else {
            panic!("an answer of another kind: {reply:?}")
        };
        candidate
    }

    /// The queue, and the number of names in it that are not candidates.
    ///
    /// # Panics
    /// If the queue can't be read.
    pub async fn list(&mut self) -> (Vec<Candidate>, u32) {
        let reply = self.done(Request::Queue(QueueRequest::List)).await;
        let Reply::Queue(QueueReply::Candidates { candidates, skipped }) = reply else {
            panic!("an answer of another kind: {reply:?}")
        };
        (candidates, skipped)
    }

    /// The members of a directory.
    ///
    /// # Panics
    /// If the directory can't be read.
    pub async fn members(&mut self, directory: rolecall_core::Directory) -> Snapshot {
        let reply = self.done(Request::Directory(DirectoryRequest::Members { directory, watch: false })).await;
        let Reply::Directory(DirectoryReply::Members(snapshot)) = reply else {
            panic!("an answer of another kind: {reply:?}")
        };
        snapshot
    }

    /// Waits for the answer to `id`.
    ///
    /// # Panics
    /// If no answer comes within [`LIMIT`].
    pub async fn answer(&mut self, id: OpId) -> Answer {
        self.find(&format!("the answer to {id:?}"), |event| {
            let StoreEvent::Answered { id: answered, answer } = event else { return None };
            (*answered == id).then(|| answer.clone())
        })
        .await
    }

    /// Waits for the notice of the watch that `id` has set.
    ///
    /// # Panics
    /// If no notice comes within [`LIMIT`].
    pub async fn notice(&mut self, id: OpId) -> Notice {
        self.find(&format!("the notice for {id:?}"), |event| {
            let StoreEvent::Noticed { id: noticed, notice } = event else { return None };
            (*noticed == id).then_some(*notice)
        })
        .await
    }

    /// Waits for a connected session.
    ///
    /// # Panics
    /// If none comes within [`LIMIT`].
    pub async fn up(&mut self) -> (Session, Duration) {
        self.find("a session", |event| {
            if let StoreEvent::Up { session, timeout } = event { Some((*session, *timeout)) } else { None }
        })
        .await
    }

    /// Waits for the next event about the session itself.
    ///
    /// # Panics
    /// If none comes within [`LIMIT`].
    pub async fn session_event(&mut self) -> StoreEvent {
        self.find("news of the session", |event| match event {
            StoreEvent::Answered { .. } | StoreEvent::Noticed { .. } | StoreEvent::Denied(_) => None,
            StoreEvent::Up { .. } | StoreEvent::Suspended | StoreEvent::Lost | StoreEvent::Closed => {
                Some(event.clone())
            }
        })
        .await
    }

    /// Takes the next event of any kind.
    ///
    /// # Panics
    /// If none comes within [`LIMIT`].
    pub async fn next(&mut self) -> StoreEvent {
        self.find("any event", |event| Some(event.clone())).await
    }

    /// Takes the first event for which `wanted` returns a value, among those kept and those to come.
    ///
    /// # Panics
    /// If none comes within [`LIMIT`]; the message names it by `what`.
    pub async fn find<T>(&mut self, what: &str, mut wanted: impl FnMut(&StoreEvent) -> Option<T>) -> T {
        if let Some((at, value)) = self.kept.iter().enumerate().find_map(|(at, event)| Some((at, wanted(event)?))) {
            self.kept.remove(at);
            return value;
        }
        let search = async {
            loop {
                let event = poll_fn(|context| self.store.poll_event(context)).await;
                if let Some(value) = wanted(&event) {
                    return value;
                }
                self.kept.push_back(event);
            }
        };
        match timeout(LIMIT, search).await {
            Ok(value) => value,
            Err(_) => panic!("waited {LIMIT:?} in vain: {what}; there were {:?}", self.kept),
        }
    }

    /// Forgets the events that came, that nobody waited for, and that are `unwanted`.
    pub fn forget(&mut self, unwanted: impl Fn(&StoreEvent) -> bool) {
        self.kept.retain(|event| !unwanted(event));
    }

    /// Events that came and that nobody waited for.
    pub fn kept(&self) -> impl Iterator<Item = &StoreEvent> {
        self.kept.iter()
    }
}

fn slot(request: &Request) -> Slot {
    match request {
        Request::Sync
        | Request::Queue(QueueRequest::Enter { .. })
        | Request::Queue(QueueRequest::List)
        | Request::Queue(QueueRequest::Inspect { .. })
        | Request::Queue(QueueRequest::Claim { .. })
        | Request::Lease(LeaseRequest::Peek { .. } | LeaseRequest::Acquire { .. })
        | Request::Settings(SettingsRequest::Settle { .. }) => Slot::Election,
        Request::Queue(QueueRequest::Delete { .. }) | Request::Lease(LeaseRequest::Release { .. }) => Slot::Sweep,
        Request::Queue(QueueRequest::Beat { .. }) | Request::Lease(LeaseRequest::Renew { .. }) => Slot::Beat,
        Request::Term(TermRequest::Read) => Slot::Term,
        Request::Wish(_) => Slot::Wish,
        Request::Directory(DirectoryRequest::Join { directory, .. })
        | Request::Directory(DirectoryRequest::Leave { directory, .. })
        | Request::Directory(DirectoryRequest::Verify { directory, .. }) => Slot::Membership(*directory),
        Request::Directory(DirectoryRequest::Members { directory, .. }) => Slot::Mirror(*directory),
    }
}
