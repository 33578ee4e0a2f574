//! A hostile world: events decoded from bytes, in any order, with answers to real and invented requests.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::election::Timing;
use crate::observe::NodeJudge;
use crate::store::{
    Aim, Answer, DirectoryReply, DirectoryRequest, Holding, LeaseReply, LeaseRequest, Notice, QueueReply, QueueRequest,
    Refusal, Reply, Request, SettingsRequest, TermRecord, TermRequest, Verdict, Wish, WishReply, WishRequest,
};
use crate::{
    Action, Candidate, Config, Epoch, Event, Family, Fence, Guid, Incarnation, Link, Member, MemberKey, Node,
    OnSuspend, OpId, Run, Session, Slot, Snapshot, Time, Token, Trace, Violation,
};

/// One step of the node: its state before, and since when; the event; the actions; its state after.
#[derive(Debug)]
pub struct Step<'a> {
    /// The node before the event.
    pub before: &'a Node,
    /// Time of the event before.
    pub since: Time,
    /// Time of the event.
    pub now: Time,
    /// The event.
    pub event: &'a Event,
    /// Actions that came of it.
    pub actions: &'a [Action],
    /// The node after the event.
    pub after: &'a Node,
}

/// Plays the events that `bytes` decode to, for a node of this family, and judges every step. Calls `look` with each.
///
/// # Errors
/// The broken promise, and the trace that leads to it.
pub fn play(family: Family, bytes: &[u8], mut look: impl FnMut(&Step<'_>)) -> Result<usize, String> {
    // Tracing would take most of the time, for a trace that nobody reads.
    play_through(family, bytes, &mut look, None).map_err(|violation| {
        let mut trace = Trace::new();
        let again = play_through(family, bytes, &mut |_| {}, Some(&mut trace)).err();
        assert_eq!(again, Some(violation), "the same bytes lead to the same end");
        format!("{violation:?} after\n{}", trace.text())
    })
}

fn play_through(
    family: Family,
    bytes: &[u8],
    look: &mut impl FnMut(&Step<'_>),
    mut trace: Option<&mut Trace>,
) -> Result<usize, Violation> {
    let mut bytes = Bytes(bytes);
    let mut world = World::new(family, &mut bytes);
    let mut count = 0;
    while !world.ended {
        let since = world.now;
        let Some(event) = world.event(&mut bytes) else { break };
        world.step(since, event, &mut |step| {
            look(step);
            if let Some(trace) = &mut trace {
                trace.record(step.now, "a", step.event, step.actions);
            }
        })?;
        count += 1;
    }
    Ok(count)
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn below(&mut self, bound: u8) -> u8 {
        self.next().unwrap_or(0) % bound.max(1)
    }
}

struct World {
    node: Node,
    judge: NodeJudge,
    now: Time,
    asked: VecDeque<(OpId, Request)>,
    runs: VecDeque<Run>,
    guids: Vec<Guid>,
    tokens: Vec<Token>,
    connections: u64,
    ended: bool,
}

impl World {
    fn new(family: Family, bytes: &mut Bytes<'_>) -> Self {
        let mut config = Config::new("a");
        let choice = bytes.next().unwrap_or(0);
        let flags = choice % 4;
        config.on_suspend = if flags & 1 == 0 { OnSuspend::Hold } else { OnSuspend::StepDown };
        config.settings = (choice / 32 % 2 == 1).then(|| "ours".into());
        let tick = (flags & 2 == 0).then_some(Duration::from_millis(200));
        config.election = match family {
            Family::Queue => tick.map_or(Timing::QUEUE, Timing::queue),
            Family::Lease => Timing::LEASE,
        };
        config.observes = choice / 4 % 8 == 7;
        config.registers = choice / 4 % 8 != 6;
        config.follows_workers = choice / 4 % 8 == 5;
        Self {
            node: Node::new(config),
            judge: NodeJudge::new(),
            now: Time::from_millis(5),
            asked: VecDeque::new(),
            runs: VecDeque::new(),
            guids: Vec::new(),
            tokens: Vec::new(),
            connections: 0,
            ended: false,
        }
    }

    fn step(&mut self, since: Time, event: Event, look: &mut impl FnMut(&Step<'_>)) -> Result<(), Violation> {
        let before = self.node.clone();
        let mut actions = Vec::new();
        self.node.handle(self.now, event.clone(), &mut actions);
        look(&Step { before: &before, since, now: self.now, event: &event, actions: &actions, after: &self.node });
        assert!(actions.len() <= Node::MAX_ACTIONS, "{} actions on {event:?}: {actions:#?}", actions.len());
        // A service that does not stop is the application's fault, and the node halts as it should.
        if actions.contains(&Action::Halt(Violation::StopOverran)) {
            self.ended = true;
            return Ok(());
        }
        self.judge.step(&before, self.now, &event, &actions, &self.node)?;
        if let Some((at, timer)) = self.node.next_deadline() {
            assert!(at > self.now, "{timer:?} is due at {at:?} and was not dealt with at {:?} on {event:?}", self.now);
        }
        for action in actions {
            self.note(action);
        }
        self.node.check()
    }

    fn note(&mut self, action: Action) {
        match action {
            Action::Store { id, request } => {
                match request {
                    Request::Queue(QueueRequest::Enter { guid }) => self.guids.push(guid),
                    Request::Lease(LeaseRequest::Acquire { token, .. }) => self.tokens.push(token),
                    Request::Queue(_)
                    | Request::Lease(_)
                    | Request::Sync
                    | Request::Term(_)
                    | Request::Directory(_)
                    | Request::Settings(_)
                    | Request::Wish(_) => {}
                }
                self.asked.push_front((id, request));
                self.asked.truncate(12);
            }
            Action::StartService { run, .. } => {
                self.runs.push_front(run);
                self.runs.truncate(3);
            }
            Action::Exit | Action::Refuse(_) => self.ended = true,
            Action::OpenGate { .. }
            | Action::CloseGate
            | Action::Floor(_)
            | Action::StopService { .. }
            | Action::Announce(_)
            | Action::RenewSession
            | Action::CloseSession
            | Action::StartAfresh(_)
            | Action::Halt(_) => {}
        }
    }

    fn event(&mut self, bytes: &mut Bytes<'_>) -> Option<Event> {
        let kind = bytes.next()?;
        let advance = u64::from(bytes.below(8));
        self.now = self.now + Duration::from_millis(advance * advance * advance);
        Some(match kind % 24 {
            0 => Event::SessionUp {
                session: Session(u64::from(bytes.below(3)) + 1),
                timeout: Duration::from_millis([2_000, 2_000, 10_000, 30][usize::from(bytes.below(4))]),
                entropy: self.entropy(bytes),
            },
            1 => Event::Suspended,
            2 => Event::SessionLost,
            3 => Event::Resign,
            4 if bytes.below(8) == 0 => Event::Shutdown,
            5 => Event::FenceSeen { fence: fence(bytes) },
            6 | 7 => self.service(bytes),
            8 | 9 => Event::Noticed {
                id: self.id(bytes),
                notice: if bytes.below(2) == 0 { Notice::Deleted } else { Notice::Changed },
            },
            10 => Event::Answered { id: self.id(bytes), answer: self.wild_answer(bytes) },
            11 => {
                if let Some((at, _)) = self.node.next_deadline() {
                    self.now = self.now.max(at);
                }
                Event::Wake
            }
            _ => {
                let place = usize::from(bytes.below(4)) * usize::from(bytes.below(2));
                match self.asked.get(place).cloned() {
                    Some((id, request)) => Event::Answered { id, answer: self.fitting_answer(&request, bytes) },
                    None => Event::Wake,
                }
            }
        })
    }

    /// Each connection brings fresh random bits; otherwise two sessions would share their names.
    fn entropy(&mut self, bytes: &mut Bytes<'_>) -> u64 {
        self.connections += 1;
        4 * self.connections + u64::from(bytes.below(4))
    }

    fn service(&self, bytes: &mut Bytes<'_>) -> Event {
        let run = self.runs.get(usize::from(bytes.below(2))).copied().unwrap_or(Run(u32::from(bytes.below(3))));
        match bytes.below(5) {
            0 => Event::ServiceFailed { run },
            1 | 2 => Event::ServiceStopped { run },
            _ => Event::ServiceStarted { run },
        }
    }

    fn id(&self, bytes: &mut Bytes<'_>) -> OpId {
        let place = usize::from(bytes.below(16));
        self.asked.get(place).map_or(
            OpId { link: Link(u32::from(bytes.below(3))), slot: Slot::Election, sequence: u32::from(bytes.below(9)) },
            |(id, _)| *id,
        )
    }

    fn candidates(&self, bytes: &mut Bytes<'_>) -> Vec<Candidate> {
        let mut candidates: Vec<_> = (0..bytes.below(4)).map(|_| self.candidate(bytes)).collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }

    fn candidate(&self, bytes: &mut Bytes<'_>) -> Candidate {
        let sequence = i64::from(bytes.below(6));
        let known = self.guids.iter().rev().nth(usize::from(bytes.below(2))).copied();
        let guid = match bytes.below(5) {
            0 => None,
            1 => Some(Guid::ours(99)),
            2 => Some(Guid(7)),
            _ => known,
        };
        Candidate { sequence, guid }
    }

    fn members(bytes: &mut Bytes<'_>) -> Snapshot {
        let mut members: Vec<_> = (0..bytes.below(4)).map(|_| member(bytes)).collect();
        members.sort_by(|one, other| one.key.cmp(&other.key));
        members.dedup_by(|one, other| one.key == other.key);
        Snapshot { members, skipped: u32::from(bytes.below(2)) }
    }

    /// An answer of the kind that the request asks for, although it need not be true.
    fn fitting_answer(&self, request: &Request, bytes: &mut Bytes<'_>) -> Answer {
        match bytes.below(12) {
            0 => return Answer::Unknown,
            1 => return Answer::Refused(refusal(bytes)),
            _ => {}
        }
        Answer::Done(match request {
            Request::Sync => Reply::Synced,
            Request::Queue(QueueRequest::Enter { guid }) => {
                Reply::Queue(QueueReply::Entered(Candidate { sequence: i64::from(bytes.below(6)), guid: Some(*guid) }))
            }
            Request::Queue(QueueRequest::List) => {
                Reply::Queue(QueueReply::Candidates { candidates: self.candidates(bytes), skipped: 0 })
            }
            Request::Queue(QueueRequest::Inspect { .. }) => {
                Reply::Queue(QueueReply::Candidate { owner: self.owner(bytes), participant: "x".into() })
            }
            Request::Queue(QueueRequest::Delete { .. }) => Reply::Queue(QueueReply::Deleted),
            // A store's revisions rise, whatever else is wrong with it.
            Request::Queue(QueueRequest::Claim { .. }) => Reply::Queue(QueueReply::Claimed(Epoch(self.now.as_nanos()))),
            Request::Queue(QueueRequest::Beat { .. }) => Reply::Queue(QueueReply::Beaten),
            Request::Lease(LeaseRequest::Peek { .. }) => Reply::Lease(self.lease(bytes)),
            Request::Lease(LeaseRequest::Acquire { .. }) if bytes.below(4) == 0 => Reply::Lease(self.lease(bytes)),
            // A store's epochs rise, whatever else is wrong with it.
            Request::Lease(LeaseRequest::Acquire { incarnation, .. }) => Reply::Lease(LeaseReply::Acquired(Fence {
                incarnation: *incarnation,
                epoch: Epoch(self.now.as_nanos()),
            })),
            Request::Lease(LeaseRequest::Renew { .. } | LeaseRequest::Release { .. }) if bytes.below(4) == 0 => {
                return Answer::Refused(Refusal::LeaseLost);
            }
            Request::Lease(LeaseRequest::Renew { .. }) => Reply::Lease(LeaseReply::Renewed),
            Request::Lease(LeaseRequest::Release { .. }) => Reply::Lease(LeaseReply::Released),
            Request::Term(TermRequest::Read) => Reply::Term(record(bytes)),
            Request::Directory(DirectoryRequest::Join { .. }) => Reply::Directory(DirectoryReply::Joined),
            Request::Directory(DirectoryRequest::Leave { .. }) => Reply::Directory(DirectoryReply::Left),
            Request::Directory(DirectoryRequest::Verify { .. }) => Reply::Directory(DirectoryReply::Registered {
                owner: self.owner(bytes),
                epoch: (bytes.below(2) == 0).then(|| self.node.term().map_or(Epoch(1), |(fence, _)| fence.epoch)),
            }),
            Request::Directory(DirectoryRequest::Members { .. }) => {
                Reply::Directory(DirectoryReply::Members(Self::members(bytes)))
            }
            Request::Settings(SettingsRequest::Settle { .. }) if bytes.below(16) == 0 => {
                Reply::Settings("theirs".into())
            }
            Request::Settings(SettingsRequest::Settle { settings }) => Reply::Settings(Arc::clone(settings)),
            Request::Wish(WishRequest::Read { .. }) => Reply::Wish(self.wish(bytes)),
            Request::Wish(WishRequest::Write { .. }) if bytes.below(4) == 0 => {
                return Answer::Refused(Refusal::Overtaken);
            }
            Request::Wish(WishRequest::Write { .. }) => Reply::Wish(WishReply::Written { version: 1 }),
        })
    }

    /// A state of the lease, which need not be true.
    fn lease(&self, bytes: &mut Bytes<'_>) -> LeaseReply {
        let left = Duration::from_millis(u64::from(bytes.below(8)) * 300);
        match bytes.below(4) {
            0 => LeaseReply::Free,
            1 => LeaseReply::Closed { left },
            _ => LeaseReply::Held(Holding {
                token: self.token(bytes),
                owner: self.owner(bytes),
                id: "x".into(),
                epoch: Epoch(u64::from(bytes.below(9))),
                left,
            }),
        }
    }

    /// A state of the wish, which need not be true.
    fn wish(&self, bytes: &mut Bytes<'_>) -> WishReply {
        let version = u64::from(bytes.below(3));
        let aim = if bytes.below(3) == 0 { Aim::Handover { to: "b".into() } } else { Aim::Resign };
        let own = self.node.term().map(|(fence, _)| fence).filter(|_| bytes.below(4) > 0);
        let verdict = match bytes.below(8) {
            0 => return WishReply::Nobodys,
            1 => return WishReply::Malformed { version },
            2 => Some(Verdict::Obeyed),
            3 => Some(Verdict::Withdrawn),
            4 => Some(Verdict::Refused { reason: "x".into() }),
            _ => None,
        };
        let term = own.unwrap_or_else(|| fence(bytes));
        WishReply::Found { wish: Box::new(Wish { id: 1, aim, term, author: "x".into(), verdict }), version }
    }

    fn token(&self, bytes: &mut Bytes<'_>) -> Token {
        let known = self.tokens.iter().rev().nth(usize::from(bytes.below(3))).copied();
        known.filter(|_| bytes.below(3) > 0).unwrap_or(Token(7))
    }

    fn owner(&self, bytes: &mut Bytes<'_>) -> Session {
        let own = self.node.session().map_or(Session(1), |(session, _)| session);
        if bytes.below(6) == 0 { Session(u64::from(bytes.below(4))) } else { own }
    }

    fn wild_answer(&self, bytes: &mut Bytes<'_>) -> Answer {
        let on_lease = self.node.config().election.family() == Family::Lease;
        Answer::Done(match bytes.below(8) {
            0 => Reply::Synced,
            1 | 2 if on_lease => Reply::Lease(self.lease(bytes)),
            3 if on_lease => return Answer::Refused(Refusal::LeaseLost),
            1 => Reply::Queue(QueueReply::Entered(self.candidate(bytes))),
            2 => Reply::Queue(QueueReply::Candidates { candidates: self.candidates(bytes), skipped: 1 }),
            3 => Reply::Queue(QueueReply::Beaten),
            4 => Reply::Term(record(bytes)),
            5 => Reply::Directory(DirectoryReply::Members(Self::members(bytes))),
            6 => return Answer::Unknown,
            _ => return Answer::Refused(refusal(bytes)),
        })
    }
}

fn refusal(bytes: &mut Bytes<'_>) -> Refusal {
    [
        Refusal::Missing,
        Refusal::Malformed,
        Refusal::Exists,
        Refusal::CandidateGone,
        Refusal::Disconnected,
        Refusal::SessionOver,
        Refusal::Denied,
    ][usize::from(bytes.below(7))]
}

fn fence(bytes: &mut Bytes<'_>) -> Fence {
    Fence { incarnation: Incarnation(u64::from(bytes.below(2))), epoch: Epoch(u64::from(bytes.below(9))) }
}

fn record(bytes: &mut Bytes<'_>) -> TermRecord {
    TermRecord { fence: fence(bytes), leader: "x".into(), address: "x:1".into() }
}

fn member(bytes: &mut Bytes<'_>) -> Member {
    Member {
        key: MemberKey {
            id: ["a", "b", "c", "d", "d", "d"][usize::from(bytes.below(6))].into(),
            session: Session(u64::from(bytes.below(4))),
        },
        address: "x:1".into(),
        epoch: (bytes.below(2) == 0).then(|| Epoch(u64::from(bytes.below(4)))),
        session_timeout: None,
        created: u64::from(bytes.below(9)),
        metadata: Default::default(),
    }
}
