//! A real Redis with its nodes, and the machine that has to tell the same.

use rolecall::store::redis::RedisStore;
use rolecall::store::{Participant, StoreEvent, StoreUrl};
use rolecall_core::store::lease::{Caller, LeaseMachine, Life, Reading};
use rolecall_core::store::{Answer, LeaseRequest, Request};
use rolecall_core::{Incarnation, OpId, Session, Time, Token};
use rolecall_tests::asker::Asker;
use rolecall_tests::redis::RedisServer;

use super::step::{Age, Ask, Node};
use super::{SESSION, TestResult, is_same};

/// Request that changes nothing: to the machine, a call like any other that moves the clock.
pub(crate) const PEEK: LeaseRequest = LeaseRequest::Peek { watch: false };

/// A node's store, and what is known of it.
pub(crate) struct Client {
    pub(crate) asker: Asker<RedisStore>,
    pub(crate) session: Session,
    /// Request that has set the watch of this node, until that fires.
    pub(crate) watch: Option<OpId>,
}

pub(crate) struct World {
    pub(crate) server: RedisServer,
    pub(crate) clients: Vec<Client>,
    pub(crate) machine: LeaseMachine,
    pub(crate) life: Life,
    /// Number of tokens that were made.
    tokens: u64,
    /// The sequence so far, for whoever reads a failure.
    pub(crate) log: Vec<String>,
}

impl World {
    pub(crate) async fn new(name: &str) -> TestResult<Self> {
        let server = RedisServer::start().await?;
        let asker = |node| Client { asker: open(&server, node), session: Session::NOBODY, watch: None };
        let clients = Node::ALL.map(asker).into();
        let (machine, life) = (LeaseMachine::default(), Life { run: 1, history: 1 });
        let mut world = Self { server, clients, machine, life, tokens: 0, log: vec![name.to_owned()] };
        world.all_up().await?;
        Ok(world)
    }

    pub(crate) fn client(&mut self, Node(place): Node) -> &mut Client {
        &mut self.clients[place]
    }

    /// Waits until a node has a session, whose script has moved the clock.
    pub(crate) async fn up(&mut self, node: Node) -> TestResult {
        self.connected(node).await;
        self.machine_answer(node, &PEEK).await?;
        Ok(())
    }

    /// Waits until a node has a session. It lives on a new connection, which knows of no watch.
    pub(crate) async fn connected(&mut self, node: Node) {
        let client = self.client(node);
        client.session = client.asker.up().await.0;
        client.asker.forget(|event| matches!(event, StoreEvent::Suspended | StoreEvent::Lost));
        if let Some(watch) = client.watch.take() {
            client.asker.forget(|event| matches!(event, StoreEvent::Noticed { id, .. } if *id == watch));
        }
    }

    /// The machine's answer, at the time of the last script, and the sessions that it notifies.
    pub(crate) async fn machine_answer(
        &mut self,
        node: Node,
        request: &LeaseRequest,
    ) -> TestResult<(Answer, Vec<Session>)> {
        let (reading, caller) = (self.reading().await?, self.caller(node));
        let mut notified = Vec::new();
        let answer = self.machine.handle(reading, &caller, request, &mut notified);
        Ok((answer, notified))
    }

    /// The server at the last script.
    pub(crate) async fn reading(&self) -> TestResult<Reading> {
        let wall: u64 = self.server.command(&redis::Cmd::hget(key("store"), "wall")).await?;
        Ok(Reading { wall: Time::from_millis(wall), life: self.life })
    }

    pub(crate) fn caller(&self, node: Node) -> Caller {
        Caller { session: self.clients[node.0].session, id: node.id().into(), timeout: SESSION }
    }

    /// The request that a step asks for.
    pub(crate) fn request(&mut self, ask: Ask) -> LeaseRequest {
        match ask {
            Ask::Peek => PEEK,
            Ask::Watch => LeaseRequest::Peek { watch: true },
            Ask::Acquire(ttl) => {
                self.tokens += 1;
                LeaseRequest::Acquire { token: token(self.tokens), ttl, incarnation: Incarnation(self.tokens) }
            }
            Ask::Renew(age, ttl) => LeaseRequest::Renew { token: self.aged(age), ttl },
            Ask::Release(age) => LeaseRequest::Release { token: self.aged(age) },
        }
    }

    fn aged(&self, Age(age): Age) -> Token {
        token(self.tokens.wrapping_sub(age as u64))
    }

    /// Sends a request to the server.
    pub(crate) fn send(&mut self, node: Node, request: &LeaseRequest) -> OpId {
        let client = self.client(node);
        let id = client.asker.send(Request::Lease(request.clone()));
        if matches!(request, LeaseRequest::Peek { watch: true }) {
            client.watch = Some(id);
        }
        id
    }

    /// A request, to both.
    pub(crate) async fn ask(&mut self, node: Node, ask: Ask) -> TestResult {
        let request = self.request(ask);
        let id = self.send(node, &request);
        let real = self.client(node).asker.answer(id).await;
        let (pure, notified) = self.machine_answer(node, &request).await?;
        self.log.push(format!("{}: {request:?} -> {pure:?}", node.id()));
        assert!(is_same(&pure, &real), "Redis tells {real:?}, the machine what is last in\n{}", self.log());
        self.noticed(&notified).await;
        Ok(())
    }

    /// Waits for the notices that the machine has given.
    pub(crate) async fn noticed(&mut self, sessions: &[Session]) {
        for client in self.clients.iter_mut().filter(|client| sessions.contains(&client.session)) {
            if let Some(watch) = client.watch.take() {
                client.asker.notice(watch).await;
            }
        }
    }

    /// No notice came that the machine has not given.
    pub(crate) fn has_no_more_notices(&self) {
        let early = self.clients.iter().flat_map(|client| client.asker.kept());
        let notices = early.filter(|event| matches!(event, StoreEvent::Noticed { .. })).count();
        assert_eq!(notices, 0, "notices that the machine has not given, in\n{}", self.log());
    }

    pub(crate) fn log(&self) -> String {
        self.log.join("\n")
    }

    /// Everybody is heard at the server's present time, so that no session ends.
    pub(crate) async fn all_heard(&mut self) -> TestResult {
        for node in Node::ALL {
            self.client(node).asker.done(Request::Sync).await;
            self.machine_answer(node, &PEEK).await?;
        }
        Ok(())
    }

    /// Waits until everybody has a session with a server that began a new life.
    pub(crate) async fn all_up(&mut self) -> TestResult {
        let [first, others @ ..] = Node::ALL;
        self.connected(first).await;
        self.reborn().await?;
        for node in others {
            self.up(node).await?;
        }
        Ok(())
    }

    /// Shows the machine the first call of a new life, whose time the server has recorded.
    pub(crate) async fn reborn(&mut self) -> TestResult {
        let mut read = redis::cmd("HMGET");
        read.arg(key("store")).arg(&["wall", "clock", "born"]);
        let (wall, clock, born): (u64, u64, u64) = self.server.command(&read).await?;
        let reading = Reading { wall: Time::from_millis(wall - (clock - born)), life: self.life };
        let caller = Caller { session: Session::NOBODY, id: "".into(), timeout: SESSION };
        self.machine.handle(reading, &caller, &PEEK, &mut Vec::new());
        Ok(())
    }
}

/// A token that uses all digits.
const fn token(number: u64) -> Token {
    Token(number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

pub(crate) fn key(name: &str) -> String {
    format!("rolecall:{{lease}}:{name}")
}

pub(crate) fn open(server: &RedisServer, node: Node) -> Asker<RedisStore> {
    let participant = Participant::new("lease", node.id(), SESSION).at("host:80");
    let StoreUrl::Redis(url) = server.url().parse().expect("a good URL") else { panic!("it is Redis's") };
    Asker::new(RedisStore::open(&url, &participant).expect("good names"))
}
