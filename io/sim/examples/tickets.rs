//! A service of one's own on simulated machines, each of which crashes once: `cargo run -p rolecall-sim --example tickets`.
//!
//! The leader hands out tickets, each with the epoch of its term and a number that it counts in memory. A crash loses the count,
//! but no ticket is handed out twice: the epoch of the next term is another.

use core::error::Error;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::BTreeSet;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use rolecall::http::{Application, Handler, HttpNodeBuilder, error};
use rolecall::{Assignment, Fence};
use rolecall_sim::{Acts, Fault, Host, Plan, Simulation, Visitor};

/// The service; nothing of it outlives a role.
struct Tickets(Acts);

/// The service in one role.
struct Window {
    assignment: Assignment,
    handed_out: AtomicU64,
    acts: Acts,
}

impl Application for Tickets {
    type Handler = Window;

    async fn serve(&self, assignment: Assignment) -> Result<Window, Box<dyn Error + Send + Sync>> {
        Ok(Window { assignment, handed_out: AtomicU64::new(0), acts: self.0.clone() })
    }
}

impl Handler for Window {
    async fn handle(&self, _request: Request<Bytes>) -> Response<Bytes> {
        let Assignment::Lead(term) = &self.assignment else {
            return error(StatusCode::CONFLICT, "wrong_role", "another node hands out tickets");
        };
        let Ok(Fence { epoch, incarnation }) = term.check() else {
            return error(StatusCode::SERVICE_UNAVAILABLE, "term_over", "the term is over");
        };
        // The simulation holds it against what every other node does at this instant.
        self.acts.begin(Fence { epoch, incarnation });
        let number = self.handed_out.fetch_add(1, Ordering::Relaxed);
        Response::new(format!("{}-{number}", epoch.0).into())
    }
}

fn node(host: &Host) -> HttpNodeBuilder {
    host.node(Tickets(host.acts()))
}

/// Draws tickets throughout the run, and complains about one that it has seen before.
async fn draw(mut visitor: Visitor) -> Result<(), String> {
    let (client, clock) = (visitor.client(), visitor.clock());
    let mut seen = BTreeSet::new();
    loop {
        let places = u64::try_from(visitor.addresses().len()).unwrap_or(1);
        let place = usize::try_from(visitor.bits() % places).unwrap_or(0);
        let address = visitor.addresses()[place].clone();
        let answer = client.send(&address, Request::default(), clock.now() + Duration::from_secs(1)).await;
        if let Some(answer) = answer.ok().filter(|answer| answer.status() == StatusCode::OK) {
            let ticket = String::from_utf8_lossy(answer.body()).into_owned();
            if !seen.insert(ticket.clone()) {
                return Err(format!("ticket {ticket} was handed out twice"));
            }
            visitor.count("tickets");
            visitor.is_served();
        }
        clock.sleep_until(clock.now() + Duration::from_millis(50)).await;
    }
}

fn main() {
    let crash = |node| Fault::Crash { node, down: Duration::from_secs(3) };
    let plan = Plan::calm()
        .then(Duration::from_secs(5), crash(0))
        .then(Duration::from_secs(15), crash(1))
        .then(Duration::from_secs(25), crash(2));
    let simulation = Simulation::new(node).visitor(draw).seed(7).length(Duration::from_secs(40)).plan(plan);

    let run = simulation.run();

    if let Some(finding) = &run.finding {
        panic!("seed {}: {finding}\n{}", run.seed, simulation.traced_from(Duration::ZERO).run().trace);
    }
    println!("{} tickets in {} terms, none twice, while each node crashed once", run.tally["tickets"], run.terms);
    assert!(run.terms >= 2, "whoever led has crashed");
    assert_eq!(run.fingerprint, simulation.run().fingerprint, "a seed repeats its run to the last step");
}
