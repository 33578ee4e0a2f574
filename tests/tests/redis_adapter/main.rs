//! The adapter for Redis, on a real server: requests, sessions, time, faults of the server, and refusals.

mod cases;
mod cluster;
mod faults;
mod refusals;
mod requests;
mod sentinel;
mod sessions;
mod time;

use core::error::Error;
use core::time::Duration;

use rolecall::store::redis::RedisStore;
use rolecall::store::{Participant, RedisUrl, StoreUrl};
use rolecall_core::store::{Answer, Holding, LeaseReply, LeaseRequest, Refusal, Reply, Request};
use rolecall_core::{Fence, Incarnation, Session, Token};
use rolecall_tests::asker::Asker;
use rolecall_tests::redis::RedisServer;
use rolecall_tests::wait::until;

type TestResult<T = ()> = Result<T, Box<dyn Error>>;

/// Timeout of sessions, and time to live of leases, that nobody waits for.
const LONG: Duration = Duration::from_secs(60);
/// Timeout of sessions, and time to live of leases, whose end is awaited.
const SHORT: Duration = Duration::from_secs(2);

const CLUSTER: &str = "test";

fn redis_url(url: &str) -> RedisUrl {
    let StoreUrl::Redis(url) = url.parse().expect("a good URL") else { panic!("{url} is Redis's") };
    url
}

/// A node's store on the server at `url`.
fn open(url: &str, id: &str, timeout: Duration) -> Asker<RedisStore> {
    let participant = Participant::new(CLUSTER, id, timeout).at(format!("{id}.example:80"));
    Asker::new(RedisStore::open(&redis_url(url), &participant).expect("good names"))
}

/// A server on which the first life's leases have passed, so that a lease can be had at once.
async fn settled() -> TestResult<RedisServer> {
    let server = RedisServer::start().await?;
    settle(&server).await?;
    Ok(server)
}

/// Lets the time pass that a server's new life has to wait.
async fn settle(server: &RedisServer) -> TestResult {
    let mut first = open(&server.url(), "first", SHORT);
    first.up().await;
    let _: u32 = server.command(redis::cmd("HSET").arg(key("store")).arg("born").arg("-1000000")).await?;
    first.store_closed().await;
    Ok(())
}

fn key(name: &str) -> String {
    format!("rolecall:{{{CLUSTER}}}:{name}")
}

/// A script as a node's adapter sends it.
fn server_script(script: &str, session: Session, link: u32, rest: &[&str]) -> redis::Cmd {
    let text = [include_str!("../../../io/src/store/redis/scripts/common.lua"), script].concat();
    let names = ["store", "lease", "term", "sessions", "links", "workers", "coordinators", "settings"];
    let mut eval = redis::cmd("EVAL");
    eval.arg(text).arg(names.len()).arg(names.map(key).as_slice());
    eval.arg(key("changes")).arg(format!("{:016x}", session.0)).arg(link).arg(60_000).arg(rest);
    eval
}

/// Requests about the lease, as the tests write them.
trait Leases {
    async fn peek(&mut self) -> LeaseReply;
    async fn acquire(&mut self, token: u64, ttl: Duration) -> Answer;
    async fn acquired(&mut self, token: u64, ttl: Duration) -> Fence;
    async fn renew(&mut self, token: u64, ttl: Duration) -> Answer;
    async fn release(&mut self, token: u64) -> Answer;
    async fn store_closed(self);
}

impl Leases for Asker<RedisStore> {
    async fn peek(&mut self) -> LeaseReply {
        let reply = self.done(Request::Lease(LeaseRequest::Peek { watch: false })).await;
        let Reply::Lease(reply) = reply else { panic!("an answer of another kind: {reply:?}") };
        reply
    }

    async fn acquire(&mut self, token: u64, ttl: Duration) -> Answer {
        let incarnation = Incarnation(token ^ 0xffff);
        self.ask(Request::Lease(LeaseRequest::Acquire { token: Token(token), ttl, incarnation })).await
    }

    async fn acquired(&mut self, token: u64, ttl: Duration) -> Fence {
        let answer = self.acquire(token, ttl).await;
        let Answer::Done(Reply::Lease(LeaseReply::Acquired(fence))) = answer else {
            panic!("not acquired: {answer:?}")
        };
        fence
    }

    async fn renew(&mut self, token: u64, ttl: Duration) -> Answer {
        self.ask(Request::Lease(LeaseRequest::Renew { token: Token(token), ttl })).await
    }

    async fn release(&mut self, token: u64) -> Answer {
        self.ask(Request::Lease(LeaseRequest::Release { token: Token(token) })).await
    }

    async fn store_closed(mut self) {
        rolecall::store::Store::close(&mut self.store);
        self.find("the end", |event| (*event == rolecall::store::StoreEvent::Closed).then_some(())).await;
    }
}

const RENEWED: Answer = Answer::Done(Reply::Lease(LeaseReply::Renewed));
const RELEASED: Answer = Answer::Done(Reply::Lease(LeaseReply::Released));
const LOST: Answer = Answer::Refused(Refusal::LeaseLost);

/// The lease as somebody holds it.
fn held(reply: LeaseReply) -> Holding {
    let LeaseReply::Held(holding) = reply else { panic!("nobody holds it: {reply:?}") };
    holding
}

/// Acquires the lease as soon as it is free.
async fn acquired_in_time(node: &mut Asker<RedisStore>, token: u64, ttl: Duration) -> Fence {
    let mut next = token;
    loop {
        match node.acquire(next, ttl).await {
            Answer::Done(Reply::Lease(LeaseReply::Acquired(fence))) => return fence,
            Answer::Done(_) => {}
            answer @ (Answer::Refused(_) | Answer::Unknown) => panic!("{answer:?}"),
        }
        next += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until the server has refused two more requests with an error of this kind: the node has tried again.
async fn refused_twice(server: &RedisServer, kind: &str) {
    let before = until("the count", async || server.refusals(kind).await.ok()).await;
    until(kind, async || (server.refusals(kind).await.ok()? >= before + 2).then_some(())).await;
}

/// Waits until `condition` holds on the server.
async fn on_server(server: &RedisServer, what: &str, command: redis::Cmd, wanted: impl Fn(&redis::Value) -> bool) {
    until(what, async || {
        let value: redis::Value = server.command(&command).await.ok()?;
        wanted(&value).then_some(())
    })
    .await;
}
