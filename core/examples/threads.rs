//! A cluster in real time without an async runtime: a thread that waits for orders until the cluster's next deadline.
//!
//! `cargo run -p rolecall-core --example threads`

#![allow(clippy::disallowed_types, reason = "an example is a driver: it is the one to read the clock")]

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Instant;

use rolecall_core::Time;
use rolecall_core::testing::Cluster;

fn main() {
    let (orders, inbox) = channel();
    let (report, reports) = channel();
    let keeper = thread::spawn(move || keep_time(&inbox, &report));
    let first = reports.recv().expect("the cluster runs until this thread lets it end");
    orders.send(first).expect("it takes orders for as long");
    let second = reports.recv().expect("another node leads in the end");
    drop(orders);
    let cluster = keeper.join().expect("every promise was kept");
    print!("{}", cluster.trace.text());
    println!("{second} leads since {first} was killed");
}

/// Runs three nodes, kills those that are named to it, and reports each new leader.
fn keep_time(orders: &Receiver<&'static str>, report: &Sender<&'static str>) -> Cluster {
    let mut cluster = Cluster::new();
    ["a", "b", "c"].into_iter().for_each(|name| cluster.start(name));
    let (began, beginning) = (Instant::now(), cluster.now);
    let mut leader = None;
    loop {
        let patience = cluster.next_deadline().unwrap_or(Time::MAX).since(beginning + began.elapsed());
        let order = orders.recv_timeout(patience);
        cluster.advance_to(beginning + began.elapsed());
        match order {
            Ok(name) => cluster.crash(name),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return cluster,
        }
        let leads = cluster.leaders().first().copied();
        if let Some(name) = leads.filter(|_| leads != leader) {
            leader = leads;
            // Once the story is told, nobody listens.
            let _ = report.send(name);
        }
    }
}
