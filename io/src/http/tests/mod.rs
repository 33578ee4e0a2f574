//! Server and client on real sockets.

mod client;
mod garbage;
mod roles;

use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};

use super::application::ErasedHandler;
use super::*;
use crate::{BoxFuture, Clock, SystemClock, TokioNet};

/// Limit that nothing here reaches even on a loaded machine.
const LIMIT: Duration = Duration::from_secs(30);

/// Answers by path: `/name`, `/echo`, `/panic`, `/hang`, which waits for [`release`](Self::release).
#[derive(Debug)]
struct Script {
    name: &'static str,
    release: Semaphore,
    hanging: watch::Sender<usize>,
    stopped: watch::Sender<usize>,
}

impl Script {
    fn new(name: &'static str) -> Arc<Self> {
        Arc::new(Self {
            name,
            release: Semaphore::new(0),
            hanging: watch::Sender::new(0),
            stopped: watch::Sender::new(0),
        })
    }

    async fn until_hanging(&self, count: usize) {
        within(self.hanging.subscribe().wait_for(|hanging| *hanging == count)).await.expect("the sender lives");
    }
}

impl Handler for Arc<Script> {
    async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        match request.uri().path() {
            "/echo" => Response::new(request.into_body()),
            "/peer" => {
                let peer = request.extensions().get::<Peer>().expect("every request has a peer");
                Response::new(peer.0.to_string().into())
            }
            "/panic" => panic!("as asked"),
            "/large" => Response::new(vec![b'x'; 100_000].into()),
            "/hang" => {
                self.hanging.send_modify(|hanging| *hanging += 1);
                self.release.acquire().await.expect("the semaphore is never closed").forget();
                Response::new("released".into())
            }
            "/only-get" => only(&[http::Method::GET], &request).unwrap_or_else(|| Response::new("got".into())),
            _ => Response::new(self.name.into()),
        }
    }

    async fn stop(&self) {
        self.stopped.send_modify(|stopped| *stopped += 1);
    }
}

/// Answers `/status`, and hangs for ever at `/status/hang`.
#[derive(Debug)]
struct Status;

impl Front for Status {
    fn answer<'a>(&'a self, head: &'a Request<()>) -> BoxFuture<'a, Option<Response<Bytes>>> {
        Box::pin(async {
            match head.uri().path() {
                "/status" => Some(Response::new("status".into())),
                "/status/hang" => core::future::pending().await,
                _ => None,
            }
        })
    }
}

struct TestBed {
    server: Server,
    slot: HandlerSlot,
    script: Arc<Script>,
    clock: Arc<dyn Clock>,
}

async fn test_bed(limits: ServerLimits) -> TestBed {
    let slot = HandlerSlot::default();
    let script = Script::new("first");
    slot.fill(erased(&script));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let front: Arc<dyn Front> = Arc::new(Status);
    let hosts = Hosts::loopback().with("x");
    let server = Server::bind(&TokioNet, Arc::clone(&clock), "127.0.0.1:0", slot.clone(), Some(front), hosts, limits)
        .await
        .expect("a free port");
    TestBed { server, slot, script, clock }
}

fn erased(script: &Arc<Script>) -> Arc<dyn ErasedHandler> {
    Arc::new(Arc::clone(script))
}

impl TestBed {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.server.address()).await.expect("the server listens")
    }

    /// Sends `text` as it is and reads until the server closes the connection.
    async fn raw(&self, text: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(text.as_bytes()).await.expect("the server reads");
        everything(stream).await
    }

    fn client(&self) -> Client {
        Client::new(Arc::new(TokioNet), Arc::clone(&self.clock), ClientLimits::default())
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        let response = self
            .client()
            .send(self.server.address(), request("GET", path, ""), self.clock.now() + LIMIT)
            .await
            .expect("an answer");
        (response.status(), text(response))
    }
}

fn request(method: &str, path: &str, body: &'static str) -> Request<Bytes> {
    Request::builder().method(method).uri(path).body(body.into()).expect("a well-formed request")
}

fn text(response: Response<Bytes>) -> String {
    String::from_utf8(response.into_body().into()).expect("answers are text")
}

async fn everything(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    // A reset after the answer counts as its end.
    drop(within(stream.read_to_end(&mut answer)).await);
    String::from_utf8(answer).expect("answers are text")
}

/// Reads until the data ends with `end`.
async fn until(stream: &mut TcpStream, end: &str) -> String {
    let mut answer = String::new();
    while !answer.ends_with(end) {
        let mut byte = [0];
        within(stream.read_exact(&mut byte)).await.unwrap_or_else(|error| panic!("{error} after {answer:?}"));
        answer.push(char::from(byte[0]));
    }
    answer
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.expect("it happens in time")
}
