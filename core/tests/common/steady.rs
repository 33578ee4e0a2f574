//! Nodes at rest, and the events that they live on.

use std::sync::Arc;
use std::time::Duration;

use rolecall_core::store::{
    Answer, DirectoryReply, DirectoryRequest, QueueReply, QueueRequest, Refusal, Reply, Request, SettingsRequest,
    TermRequest,
};
use rolecall_core::{
    Action, Candidate, Config, Directory, Epoch, Event, Guid, Member, MemberKey, Node, OpId, Session, Sink, Snapshot,
    Time,
};

/// Granted session timeout.
const TIMEOUT: Duration = Duration::from_secs(10);
const SESSION: Session = Session(7);

/// A node at rest, with its clock and its actions.
#[derive(Clone, Debug)]
pub(crate) struct Steady {
    pub(crate) node: Node,
    pub(crate) now: Time,
    pub(crate) out: Actions,
}

/// The newest request and the number of actions: as much as a driver with a buffer of its own would keep.
#[derive(Clone, Debug, Default)]
pub(crate) struct Actions {
    pub(crate) newest: Option<OpId>,
    pub(crate) count: usize,
}

impl Sink for Actions {
    fn push(&mut self, action: Action) {
        self.count += 1;
        if let Action::Store { id, .. } = action {
            self.newest = Some(id);
        }
    }
}

impl Steady {
    /// A leader with this many workers.
    pub(crate) fn leader(workers: usize) -> Self {
        Self::settled(None, workers)
    }

    /// A worker that waits behind another node's candidate.
    pub(crate) fn waiter() -> Self {
        Self::settled(Some(Candidate { sequence: 1, guid: Some(Guid::ours(9)) }), 0)
    }

    fn settled(predecessor: Option<Candidate>, workers: usize) -> Self {
        let mut node = Node::new(Config::new("node-a"));
        let mut out = Vec::new();
        let mut now = Time::from_millis(1_000);
        node.handle(now, Event::SessionUp { session: SESSION, timeout: TIMEOUT, entropy: 3 }, &mut out);
        let mut own = Candidate { sequence: 2, guid: None };
        let mut registered = None;
        while let Some(action) = (!out.is_empty()).then(|| out.remove(0)) {
            now = now + Duration::from_millis(1);
            match action {
                Action::Store { id, request } => {
                    if let Request::Queue(QueueRequest::Enter { guid }) = request {
                        own.guid = Some(guid);
                    }
                    if let Request::Directory(DirectoryRequest::Join { epoch, .. }) = request {
                        registered = Some(epoch);
                    }
                    let answer = answer(&request, own, predecessor, registered, workers);
                    node.handle(now, Event::Answered { id, answer }, &mut out);
                }
                Action::StartService { run, .. } => node.handle(now, Event::ServiceStarted { run }, &mut out),
                Action::OpenGate { .. }
                | Action::CloseGate
                | Action::Floor(_)
                | Action::StopService { .. }
                | Action::Announce(_)
                | Action::RenewSession
                | Action::StartAfresh(_)
                | Action::CloseSession
                | Action::Exit
                | Action::Refuse(_)
                | Action::Halt(_) => {}
            }
        }
        Self { node, now, out: Actions::default() }
    }

    /// Handles an event, a moment later.
    pub(crate) fn event(&mut self, event: Event) {
        self.now = self.now + Duration::from_micros(10);
        self.node.handle(self.now, event, &mut self.out);
    }

    /// Handles an event, at the time of the last one.
    pub(crate) fn event_now(&mut self, event: Event) {
        self.node.handle(self.now, event, &mut self.out);
    }

    /// Wakes the node at its own deadline.
    pub(crate) fn wake(&mut self) {
        let deadline = self.node.next_deadline().map_or(self.now, |(at, _)| at);
        self.now = self.now.max(deadline);
        self.node.handle(self.now, Event::Wake, &mut self.out);
    }

    /// Sends a heartbeat and answers it: two events.
    pub(crate) fn beat(&mut self) {
        self.wake();
        if let Some(id) = self.out.newest.take() {
            self.event(Event::Answered { id, answer: Answer::Done(Reply::Queue(QueueReply::Beaten)) });
        }
    }
}

fn answer(
    request: &Request,
    own: Candidate,
    predecessor: Option<Candidate>,
    registered: Option<Option<Epoch>>,
    workers: usize,
) -> Answer {
    Answer::Done(match request {
        Request::Sync => Reply::Synced,
        Request::Queue(QueueRequest::Enter { .. }) => Reply::Queue(QueueReply::Entered(own)),
        Request::Queue(QueueRequest::List) => Reply::Queue(QueueReply::Candidates {
            candidates: predecessor.into_iter().chain([own]).collect(),
            skipped: 0,
        }),
        Request::Queue(QueueRequest::Inspect { .. }) => {
            Reply::Queue(QueueReply::Candidate { owner: SESSION, participant: "node-a".into() })
        }
        Request::Queue(QueueRequest::Delete { .. }) => Reply::Queue(QueueReply::Deleted),
        Request::Queue(QueueRequest::Claim { .. }) => Reply::Queue(QueueReply::Claimed(Epoch(40))),
        Request::Queue(QueueRequest::Beat { .. }) => Reply::Queue(QueueReply::Beaten),
        Request::Lease(_) => return Answer::Refused(Refusal::OtherFamily),
        Request::Term(TermRequest::Read) => return Answer::Refused(Refusal::Missing),
        Request::Directory(DirectoryRequest::Join { .. }) => Reply::Directory(DirectoryReply::Joined),
        Request::Directory(DirectoryRequest::Leave { .. }) => Reply::Directory(DirectoryReply::Left),
        Request::Directory(DirectoryRequest::Verify { .. }) => match registered {
            Some(epoch) => Reply::Directory(DirectoryReply::Registered { owner: SESSION, epoch }),
            None => return Answer::Refused(Refusal::Missing),
        },
        Request::Directory(DirectoryRequest::Members { directory: Directory::Workers, .. }) => {
            Reply::Directory(DirectoryReply::Members(Snapshot {
                members: (0..workers).map(worker).collect(),
                skipped: 0,
            }))
        }
        Request::Directory(DirectoryRequest::Members { directory: Directory::Coordinators, .. }) => {
            Reply::Directory(DirectoryReply::Members(Snapshot::default()))
        }
        Request::Settings(SettingsRequest::Settle { settings }) => Reply::Settings(Arc::clone(settings)),
    })
}

fn worker(number: usize) -> Member {
    let session = Session(u64::try_from(number).unwrap_or(0) + 100);
    Member {
        key: MemberKey { id: format!("worker-{number:02}").into(), session },
        address: format!("10.0.0.{number}:80").into(),
        epoch: None,
        session_timeout: Some(TIMEOUT),
        created: 1,
        metadata: Default::default(),
    }
}
