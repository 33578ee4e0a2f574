//! A counter that only the leader raises, and whose copies refuse what an earlier leader sends late.
//!
//! Three nodes in one process, on the embedded store: `cargo run -p rolecall --example counter`.

use core::error::Error;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use rolecall::http::{Application, Client, ClientLimits, Handler, HttpNode, HttpNodeBuilder, error};
use rolecall::store::{MemoryStore, Store};
use rolecall::{Assignment, Clock, Following, LeaderTerm, SystemClock, TokioNet};
use rolecall_core::{Config, Epoch, Fence, Incarnation, Role};

/// The application: one copy of the count, which outlives the node's roles.
struct Counter {
    count: Arc<AtomicU64>,
    client: Client,
    clock: Arc<dyn Clock>,
}

impl Application for Counter {
    type Handler = Counting;

    async fn serve(&self, assignment: Assignment) -> Result<Counting, Box<dyn Error + Send + Sync>> {
        println!("  a node serves as {:?}", assignment.role());
        Ok(Counting { assignment, count: self.count.clone(), client: self.client.clone(), clock: self.clock.clone() })
    }
}

/// The application in one role.
struct Counting {
    assignment: Assignment,
    count: Arc<AtomicU64>,
    client: Client,
    clock: Arc<dyn Clock>,
}

impl Handler for Counting {
    async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        let answer = match &self.assignment {
            Assignment::Lead(term) => self.raise(term).await,
            Assignment::Follow(following) => self.keep(following, &request).await,
        };
        answer.unwrap_or_else(|refusal| error(StatusCode::CONFLICT, "refused", &refusal.to_string()))
    }
}

impl Counting {
    /// The leader counts, and tells every worker under the token of its term.
    async fn raise(&self, term: &LeaderTerm) -> Result<Response<Bytes>, Box<dyn Error + Send + Sync>> {
        let count = self.count.load(Ordering::Relaxed) + 1;
        for worker in &term.members().now().members {
            let fence = term.check()?;
            let mut task = Request::new(Bytes::from(count.to_string()));
            *task.method_mut() = http::Method::PUT;
            task.headers_mut().insert("fence", format!("{}.{}", fence.incarnation.0, fence.epoch.0).parse()?);
            let deadline = self.clock.now() + term.time_left();
            let answer = self.client.send(&worker.address, task, deadline).await?;
            if answer.status() != StatusCode::OK {
                return Ok(answer);
            }
        }
        term.check()?;
        self.count.store(count, Ordering::Relaxed);
        Ok(Response::new(count.to_string().into()))
    }

    /// A worker keeps what the leader of the newest term says.
    async fn keep(
        &self,
        following: &Following,
        request: &Request<Bytes>,
    ) -> Result<Response<Bytes>, Box<dyn Error + Send + Sync>> {
        let fence = request.headers().get("fence").ok_or("this node does not lead")?.to_str()?;
        let (incarnation, epoch) = fence.split_once('.').ok_or("a fence is INCARNATION.EPOCH")?;
        let fence = Fence { incarnation: Incarnation(incarnation.parse()?), epoch: Epoch(epoch.parse()?) };
        following.admit(fence).await?;
        self.count.store(core::str::from_utf8(request.body())?.parse()?, Ordering::Relaxed);
        Ok(Response::default())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let client = Client::new(Arc::new(TokioNet), clock.clone(), ClientLimits::default());
    let store = MemoryStore::new(clock.clone());
    let mut nodes = Vec::new();
    for id in ["a", "b", "c"] {
        let counter = Counter { count: Arc::default(), client: client.clone(), clock: clock.clone() };
        let store = store.clone();
        let open = move |participant| -> Result<Box<dyn Store>, Box<dyn Error + Send + Sync>> {
            Ok(Box::new(store.connect(participant)))
        };
        let builder = HttpNodeBuilder::new(Config::new(id), counter, open).session_timeout(Duration::from_secs(2));
        nodes.push(builder.start().await?);
    }
    for round in 0..2 {
        let leader = leader(&nodes).await;
        for _ in 0..3 {
            let deadline = clock.now() + Duration::from_secs(5);
            let answer = client.send(nodes[leader].address(), Request::default(), deadline).await?;
            println!("{} answers {}", nodes[leader].address(), String::from_utf8_lossy(answer.body()));
        }
        if round == 0 {
            println!("the leader crashes");
            nodes.remove(leader).crash().await;
        }
    }
    for node in &mut nodes {
        node.shut_down().await;
        println!("{} has {}", node.address().to_owned(), node.wait().await);
    }
    Ok(())
}

/// Waits until one of `nodes` leads, with all the others as its workers.
async fn leader(nodes: &[HttpNode]) -> usize {
    let ready = nodes.iter().map(|node| {
        Box::pin(node.observer().until(|status| {
            status.role == Role::Leader && status.ready().is_ok() && status.workers.members.len() == nodes.len() - 1
        }))
    });
    futures_util::future::select_all(ready).await.1
}
