//! A small service for simulations, which shares out work as a search does: the leader gives each worker a share of
//! numbers, adds up the answers, and says which numbers are missing.

use core::error::Error;
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use rolecall_core::{Epoch, Fence, Incarnation};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use super::acts::Acts;
use super::host::Host;
use super::visitor::Visitor;
use rolecall::http::{Application, Client, ClientLimits, Handler, HttpNodeBuilder, error, json};
use rolecall::{Assignment, Clock, Following, LeaderTerm};

/// Amount of numbers to share out, from 0.
const NUMBERS: u64 = 48;
/// Time that a worker may take.
const TASK_LIMIT: Duration = Duration::from_millis(800);
/// Time that the visitor waits for an answer.
const ASK_LIMIT: Duration = Duration::from_secs(3);

/// A node of the service, for [`Simulation::new`](super::Simulation::new).
#[must_use]
pub fn node(host: &Host) -> HttpNodeBuilder {
    let client = Client::new(host.net(), host.clock(), ClientLimits::default());
    host.node(Adder { client, clock: host.clock(), acts: host.acts() })
}

/// The service. Its numbers are shared out among the workers, whose sums the leader adds up.
#[derive(Clone, Debug)]
pub struct Adder {
    client: Client,
    clock: Arc<dyn Clock>,
    acts: Acts,
}

impl Application for Adder {
    type Handler = Serving;

    async fn serve(&self, assignment: Assignment) -> Result<Serving, Box<dyn Error + Send + Sync>> {
        Ok(Serving { adder: self.clone(), assignment })
    }
}

/// One run of the service.
#[derive(Debug)]
pub struct Serving {
    adder: Adder,
    assignment: Assignment,
}

/// A leader's request to a worker.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    incarnation: u64,
    epoch: u64,
    factor: u64,
    numbers: Vec<u64>,
}

/// A leader's answer: the sum of `factor` times each number except the missing ones.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Sum {
    factor: u64,
    sum: u64,
    missing: Vec<u64>,
    partial: bool,
    epoch: u64,
}

impl Handler for Serving {
    async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        match (&self.assignment, request.uri().path()) {
            (Assignment::Lead(term), "/sum") => self.lead(term, &request).await,
            (Assignment::Follow(following), "/task") => self.work(following, &request).await,
            (Assignment::Lead(_) | Assignment::Follow(_), _) => {
                error(StatusCode::CONFLICT, "wrong_role", "another node does this")
            }
        }
    }
}

impl Serving {
    async fn lead(&self, term: &LeaderTerm, request: &Request<Bytes>) -> Response<Bytes> {
        let factor = request.uri().query().and_then(|query| query.parse().ok()).unwrap_or(1);
        let Ok(fence) = term.check() else { return over() };
        self.adder.acts.begin(fence);
        let (sum, missing) = self.share_out(term, fence, factor).await;
        let Ok(fence) = term.check() else { return over() };
        self.adder.acts.begin(fence);
        let partial = !missing.is_empty();
        json(StatusCode::OK, &Sum { factor, sum, missing, partial, epoch: fence.epoch.0 })
    }

    async fn share_out(&self, term: &LeaderTerm, fence: Fence, factor: u64) -> (u64, Vec<u64>) {
        let workers = term.members().now();
        if workers.members.is_empty() {
            return ((0..NUMBERS).map(|number| number * factor).sum(), Vec::new());
        }
        let count = u64::try_from(workers.members.len()).unwrap_or(u64::MAX);
        let mut tasks = JoinSet::new();
        for (place, worker) in (0..).zip(&workers.members) {
            let numbers: Vec<u64> = (0..NUMBERS).filter(|number| number % count == place).collect();
            let (client, address) = (self.adder.client.clone(), worker.address.to_string());
            let task = Task { incarnation: fence.incarnation.0, epoch: fence.epoch.0, factor, numbers };
            let deadline = self.adder.clock.now() + TASK_LIMIT;
            tasks.spawn(async move {
                let body = serde_json::to_vec(&task).expect("a task can be written as JSON");
                let mut request = Request::new(Bytes::from(body));
                (*request.method_mut(), *request.uri_mut()) = (Method::POST, "/task".parse().expect("a path"));
                let answer = client.send(&address, request, deadline).await;
                let part = answer.ok().filter(|answer| answer.status() == StatusCode::OK);
                let part: Option<u64> = part.and_then(|answer| serde_json::from_slice(answer.body()).ok());
                part.ok_or(task.numbers)
            });
        }
        let (mut sum, mut missing) = (0, Vec::new());
        while let Some(done) = tasks.join_next().await {
            match done.expect("a task does not panic") {
                Ok(part) => sum += part,
                Err(numbers) => missing.extend(numbers),
            }
        }
        missing.sort_unstable();
        (sum, missing)
    }

    async fn work(&self, following: &Following, request: &Request<Bytes>) -> Response<Bytes> {
        let Ok(task) = serde_json::from_slice::<Task>(request.body()) else {
            return error(StatusCode::BAD_REQUEST, "bad_task", "this is not a task");
        };
        let fence = Fence { incarnation: Incarnation(task.incarnation), epoch: Epoch(task.epoch) };
        if let Err(stale) = following.admit(fence).await {
            return error(StatusCode::CONFLICT, "stale_epoch", &stale.to_string());
        }
        self.adder.acts.accept(fence);
        json(StatusCode::OK, &task.numbers.iter().map(|number| number * task.factor).sum::<u64>())
    }
}

fn over() -> Response<Bytes> {
    error(StatusCode::SERVICE_UNAVAILABLE, "term_over", "the term of this node is over")
}

/// Asks for sums throughout the run, for [`Simulation::visitor`](super::Simulation::visitor).
///
/// # Errors
/// The first wrong answer: one that is neither right, nor marked as partial, nor an error.
pub async fn visit(mut visitor: Visitor) -> Result<(), String> {
    let (client, clock) = (visitor.client(), visitor.clock());
    let mut place = 0;
    let mut in_vain = 0;
    loop {
        let factor = visitor.bits() % 1_000;
        let request = Request::get(format!("/sum?{factor}")).body(Bytes::new()).expect("a path with a query");
        let address = visitor.addresses()[place].clone();
        let answer = client.send(&address, request, clock.now() + ASK_LIMIT).await;
        match answer {
            Ok(answer) if answer.status() == StatusCode::OK => {
                let sum: Sum = serde_json::from_slice(answer.body()).map_err(|error| error.to_string())?;
                judge(&sum, factor)?;
                tell(&visitor, &sum);
                in_vain = 0;
            }
            Ok(_) | Err(_) => {
                visitor.count("refusals and errors");
                in_vain += 1;
                if in_vain >= visitor.addresses().len() {
                    visitor.sees("gets no answer");
                }
                place = (place + 1) % visitor.addresses().len();
            }
        }
        let pause = Duration::from_millis(visitor.bits() % 400);
        clock.sleep_until(clock.now() + pause).await;
    }
}

fn tell(visitor: &Visitor, answer: &Sum) {
    if answer.partial {
        visitor.count("partial answers");
        visitor.sees(&format!("gets partial answers of epoch {}", answer.epoch));
    } else {
        visitor.count("full answers");
        visitor.sees(&format!("gets full answers of epoch {}", answer.epoch));
        visitor.is_served();
    }
}

fn judge(answer: &Sum, factor: u64) -> Result<(), String> {
    let sum = (0..NUMBERS).filter(|number| !answer.missing.contains(number)).map(|number| number * factor).sum::<u64>();
    let is_right = answer.factor == factor && answer.sum == sum && answer.partial != answer.missing.is_empty();
    if is_right { Ok(()) } else { Err(format!("asked for factor {factor}, got {answer:?}")) }
}
