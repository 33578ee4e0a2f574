//! Plays a sequence in one store, and records what the nodes are told.

use core::future::poll_fn;
use core::task::Poll;
use core::time::Duration;

use rolecall::store::{Store, StoreEvent};
use rolecall_core::store::{
    Act, Aim, Answer, DirectoryRequest, QueueReply, QueueRequest, Reply, Request, SettingsRequest, TermRequest,
    Verdict, Wish, WishRequest,
};
use rolecall_core::{Candidate, Directory, Epoch, Fence, Guid, Incarnation, MemberKey, Session};
use rolecall_tests::asker::Asker;
use tokio::time::timeout;

use super::record::{Received, Record};
use super::step::{Ask, Deed, Node, Step, Which, Whose};
use super::worlds::{Outcome, World};

/// Time that a real store may take for events that the pure one reports at once.
const PATIENCE: Duration = Duration::from_secs(20);

/// A candidate that never existed.
const STRANGER: Candidate = Candidate { sequence: 777, guid: Some(Guid::ours(777)) };
/// A session that never existed.
const NO_SESSION: Session = Session(0xdead);

/// One node.
struct Client<S> {
    /// `None` after the node has closed its session or crashed.
    asker: Option<Asker<S>>,
    broken: bool,
    sessions: Vec<Session>,
    /// Candidates without a guid in the session's last listing.
    nameless: Vec<Candidate>,
}

/// A sequence under way.
struct Play<'a, W: World> {
    world: &'a mut W,
    clients: Vec<Client<W::Store>>,
    candidates: Vec<Candidate>,
    claimed: Option<Epoch>,
    guids: u128,
    life: u32,
    /// The record of the other store, if the sequence was played there before.
    expected: Option<&'a [Record]>,
}

/// Plays `steps` with this many nodes. Without `expected`, everything must be told at once.
pub(crate) async fn play<W: World>(
    world: &mut W,
    nodes: usize,
    steps: &[Step],
    expected: Option<&[Record]>,
) -> Outcome<Vec<Record>> {
    let mut play =
        Play { world, clients: Vec::new(), candidates: Vec::new(), claimed: None, guids: 0, life: 0, expected };
    let mut records = Vec::new();
    for node in (0..nodes).map(Node) {
        let asker = Some(Asker::new(play.world.open(node).await?));
        play.clients.push(Client { asker, broken: false, sessions: Vec::new(), nameless: Vec::new() });
        // One after the other, so that sessions appear in the same order.
        let mut told = play.nothing();
        play.collect(records.len(), &mut told).await;
        records.push(Record::new(play.life, told));
    }
    for step in steps {
        let mut told = play.nothing();
        play.step(step, &mut told).await?;
        play.collect(records.len(), &mut told).await;
        records.push(Record::new(play.life, told));
        if expected
            .is_some_and(|expected| expected[records.len() - 1].lengths() != records[records.len() - 1].lengths())
        {
            // Nothing after this can be compared.
            break;
        }
    }
    Ok(records)
}

impl<W: World> Play<'_, W> {
    /// Carries out a step; `told` gets everything that the nodes are told meanwhile.
    async fn step(&mut self, step: &Step, told: &mut [Received]) -> Outcome {
        match step {
            Step::Ask(node, ask) => self.send(*node, &[*ask]),
            Step::Burst(node, asks) => self.send(*node, asks),
            Step::Operator(deed) => {
                let act = self.act(*deed);
                self.world.operate(act).await?;
            }
            Step::Break(node) if self.is_up(*node) => {
                self.clients[node.0].broken = true;
                self.world.cut(*node);
            }
            Step::Silence(node) if self.is_up(*node) => {
                self.clients[node.0].broken = true;
                self.world.silence(*node);
            }
            Step::Deafen(node) if self.is_up(*node) => {
                self.clients[node.0].broken = true;
                self.world.deafen(*node);
            }
            Step::Outlast(node) => {
                let sessions = self.clients[node.0].sessions.clone();
                while !self.world.outlasts(&sessions).await? {
                    // Connected nodes have to be heard meanwhile.
                    self.drain(told).await;
                }
            }
            Step::Mend(node) if self.clients[node.0].broken => {
                self.clients[node.0].broken = false;
                self.world.mend(*node);
            }
            Step::Flap(node) if self.is_up(*node) => self.world.flap(*node),
            Step::Expire(node) => {
                let sessions = self.clients[node.0].sessions.clone();
                self.world.expire(*node, &sessions, self.is_up(*node)).await?;
            }
            Step::Renew(node) if self.is_up(*node) => {
                let client = &mut self.clients[node.0];
                client.asker.as_mut().expect("it is up").store.renew();
                // The end of the old session is the third allowed difference.
                self.world.expire(*node, &client.sessions, true).await?;
            }
            Step::Close(node) if self.is_up(*node) => {
                self.clients[node.0].asker.as_mut().expect("it is up").store.close();
            }
            Step::Crash(node) => {
                self.clients[node.0].broken = false;
                if let Some(asker) = self.clients[node.0].asker.take() {
                    self.world.crash(*node, asker.store);
                }
            }
            Step::Open(node) if self.clients[node.0].asker.is_none() => {
                self.clients[node.0].asker = Some(Asker::new(self.world.open(*node).await?));
            }
            Step::Restart => self.world.restart(true).await?,
            Step::Wipe => {
                self.life += 1;
                self.claimed = None;
                self.world.restart(false).await?;
            }
            Step::Break(_)
            | Step::Silence(_)
            | Step::Deafen(_)
            | Step::Mend(_)
            | Step::Flap(_)
            | Step::Renew(_)
            | Step::Close(_)
            | Step::Open(_) => {}
        }
        Ok(())
    }

    fn is_up(&self, node: Node) -> bool {
        self.clients[node.0].asker.is_some() && !self.clients[node.0].broken
    }

    fn nothing(&self) -> Vec<Received> {
        vec![Received::default(); self.clients.len()]
    }

    /// Takes everything that every node is told: as much as expected, and anything beyond it.
    async fn collect(&mut self, at: usize, told: &mut [Received]) {
        while self.take(Some(at), told).await {}
    }

    /// Takes everything that is there.
    async fn drain(&mut self, told: &mut [Received]) {
        while self.take(None, told).await {}
    }

    /// Asks each node once. Returns true if any was told something.
    async fn take(&mut self, at: Option<usize>, told: &mut [Received]) -> bool {
        let mut any = false;
        for (place, told) in told.iter_mut().enumerate() {
            let due = at.zip(self.expected).map_or(0, |(at, expected)| expected[at].told[place].len());
            while let Some(event) = self.clients[place].next(told.len() < due).await {
                any = true;
                let event = self.world.hears(Node(place), event);
                self.learn(place, &event);
                told.push(event);
            }
        }
        any
    }

    fn learn(&mut self, place: usize, event: &StoreEvent) {
        let client = &mut self.clients[place];
        match event {
            StoreEvent::Up { session, .. } => {
                if client.sessions.last() != Some(session) {
                    client.sessions.push(*session);
                    client.nameless.clear();
                }
            }
            StoreEvent::Closed => client.asker = None,
            StoreEvent::Answered { answer: Answer::Done(reply), .. } => {
                let told = match reply {
                    Reply::Queue(QueueReply::Entered(candidate)) => vec![*candidate],
                    Reply::Queue(QueueReply::Candidates { candidates, .. }) => {
                        client.nameless = candidates.iter().filter(|told| told.guid.is_none()).copied().collect();
                        candidates.clone()
                    }
                    Reply::Queue(QueueReply::Claimed(epoch)) => {
                        // The newest one counts, whichever answer is passed on first.
                        self.claimed = self.claimed.max(Some(*epoch));
                        Vec::new()
                    }
                    Reply::Synced
                    | Reply::Queue(QueueReply::Candidate { .. } | QueueReply::Deleted | QueueReply::Beaten)
                    | Reply::Lease(_)
                    | Reply::Term(_)
                    | Reply::Directory(_)
                    | Reply::Settings(_)
                    | Reply::Wish(_) => Vec::new(),
                };
                for candidate in told {
                    if let Err(place) = self.candidates.binary_search(&candidate) {
                        self.candidates.insert(place, candidate);
                    }
                }
            }
            StoreEvent::Answered { answer: Answer::Refused(_) | Answer::Unknown, .. }
            | StoreEvent::Suspended
            | StoreEvent::Lost
            | StoreEvent::Denied(_)
            | StoreEvent::Noticed { .. } => {}
        }
    }

    fn send(&mut self, node: Node, asks: &[Ask]) {
        let requests: Vec<Request> = asks.iter().map(|ask| self.request(node, *ask)).collect();
        if let Some(asker) = &mut self.clients[node.0].asker {
            for request in requests {
                asker.send(request);
            }
            self.world.asked(node);
        }
    }

    fn request(&mut self, node: Node, ask: Ask) -> Request {
        let watch = matches!(ask, Ask::Watch(_) | Ask::WatchMembers(_) | Ask::WatchWish);
        let create = matches!(ask, Ask::FirstClaim(..));
        match ask {
            Ask::Sync => Request::Sync,
            Ask::Enter => Request::Queue(QueueRequest::Enter { guid: self.guid() }),
            Ask::List => Request::Queue(QueueRequest::List),
            Ask::Inspect(which) | Ask::Watch(which) => {
                Request::Queue(QueueRequest::Inspect { candidate: self.named(node, which), watch })
            }
            Ask::Delete(which) => Request::Queue(QueueRequest::Delete { candidate: self.named(node, which) }),
            Ask::Claim(which, incarnation) | Ask::FirstClaim(which, incarnation) => {
                let candidate = self.named(node, which);
                Request::Queue(QueueRequest::Claim { candidate, incarnation: Incarnation(incarnation), create })
            }
            Ask::Beat(which) => Request::Queue(QueueRequest::Beat { candidate: self.named(node, which) }),
            Ask::ReadTerm => Request::Term(TermRequest::Read),
            Ask::Join(directory, whose) => self.join(node, directory, whose, None),
            Ask::JoinAsLeader(directory) => self.join(node, directory, Whose::Own, self.claimed),
            Ask::Leave(directory, whose) => {
                Request::Directory(DirectoryRequest::Leave { directory, session: self.session(node, whose) })
            }
            Ask::Verify(directory, whose) => {
                Request::Directory(DirectoryRequest::Verify { directory, session: self.session(node, whose) })
            }
            Ask::Members(directory) | Ask::WatchMembers(directory) => {
                Request::Directory(DirectoryRequest::Members { directory, watch })
            }
            Ask::Settle(settings) => Request::Settings(SettingsRequest::Settle { settings: settings.into() }),
            Ask::ReadWish | Ask::WatchWish => Request::Wish(WishRequest::Read { watch }),
            Ask::Wish(id) => Request::Wish(WishRequest::Write { wish: Box::new(wish(id)), over: None }),
            Ask::WishOver(version, id) => {
                Request::Wish(WishRequest::Write { wish: Box::new(wish(id)), over: Some(version) })
            }
        }
    }

    fn join(&self, node: Node, directory: Directory, whose: Whose, epoch: Option<Epoch>) -> Request {
        Request::Directory(DirectoryRequest::Join { directory, session: self.session(node, whose), epoch })
    }

    fn act(&mut self, deed: Deed) -> Act {
        let owner = Session(0);
        match deed {
            Deed::AddCandidate => Act::AddCandidate { guid: Some(self.guid()), participant: "stranger".into(), owner },
            Deed::AddNamelessCandidate => Act::AddCandidate { guid: None, participant: "nameless".into(), owner },
            Deed::RewriteCandidate(which) => Act::RewriteCandidate(self.candidate(which)),
            Deed::DeleteCandidate(which) => Act::DeleteCandidate(self.candidate(which)),
            Deed::LitterQueue => Act::LitterQueue,
            Deed::AddMember(directory, node, whose) => {
                let (key, epoch) = (self.key(node, whose), self.claimed);
                Act::AddMember { directory, key, address: "elsewhere:90".into(), epoch, owner }
            }
            Deed::RewriteMember(directory, node, whose) => Act::RewriteMember { directory, key: self.key(node, whose) },
            Deed::DeleteMember(directory, node, whose) => Act::DeleteMember { directory, key: self.key(node, whose) },
            Deed::LitterDirectory(directory) => Act::LitterDirectory(directory),
            Deed::DeleteTerm => Act::DeleteTerm,
            Deed::SpoilTerm => Act::SpoilTerm,
            Deed::DeleteSettings => Act::DeleteSettings,
            Deed::SpoilWish => Act::SpoilWish,
            Deed::DeleteWish => Act::DeleteWish,
        }
    }

    fn guid(&mut self) -> Guid {
        self.guids += 1;
        Guid::ours(self.guids)
    }

    fn candidate(&self, Which(which): Which) -> Candidate {
        self.candidates.get(which).copied().unwrap_or(STRANGER)
    }

    /// The candidate, if this node can name it: the second allowed difference.
    fn named(&self, node: Node, which: Which) -> Candidate {
        let candidate = self.candidate(which);
        let known = candidate.guid.is_some() || self.clients[node.0].nameless.contains(&candidate);
        if known { candidate } else { STRANGER }
    }

    fn key(&self, node: Node, whose: Whose) -> MemberKey {
        MemberKey { id: node.id().into(), session: self.session(node, whose) }
    }

    fn session(&self, node: Node, whose: Whose) -> Session {
        let mut sessions = self.clients[node.0].sessions.iter().rev();
        let found = match whose {
            Whose::Own => sessions.next(),
            Whose::Former => sessions.nth(1),
        };
        found.copied().unwrap_or(NO_SESSION)
    }
}

impl<S: Store> Client<S> {
    /// The next event: one that is there, or one that comes if it is `due`.
    async fn next(&mut self, due: bool) -> Option<StoreEvent> {
        let store = &mut self.asker.as_mut()?.store;
        if due {
            return timeout(PATIENCE, poll_fn(|context| store.poll_event(context))).await.ok();
        }
        poll_fn(|context| {
            Poll::Ready(match store.poll_event(context) {
                Poll::Ready(event) => Some(event),
                Poll::Pending => None,
            })
        })
        .await
    }
}

/// A wish that has an answer.
fn wish(id: u64) -> Wish {
    let term = Fence { incarnation: Incarnation(1), epoch: Epoch(id) };
    let aim = Aim::Handover { to: "b".into() };
    Wish { id, aim, term, author: "a".into(), verdict: Some(Verdict::Refused { reason: "never".into() }) }
}
