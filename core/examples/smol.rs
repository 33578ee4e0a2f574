//! A cluster in real time on smol: a task that waits for orders until the cluster's next deadline.
//!
//! `cargo run -p rolecall-core --example smol`

#![allow(clippy::disallowed_types, reason = "an example is a driver: it is the one to read the clock")]

use std::time::Instant;

use rolecall_core::Time;
use rolecall_core::testing::Cluster;
use smol::channel::{Receiver, Sender, unbounded};
use smol::future::or;
use smol::{LocalExecutor, Timer};

fn main() {
    let executor = LocalExecutor::new();
    smol::block_on(executor.run(tell(&executor)));
}

async fn tell(executor: &LocalExecutor<'_>) {
    let (orders, inbox) = unbounded();
    let (report, reports) = unbounded();
    let keeper = executor.spawn(keep_time(inbox, report));
    let first = reports.recv().await.expect("the cluster runs until this task lets it end");
    orders.try_send(first).expect("it takes orders for as long");
    let second = reports.recv().await.expect("another node leads in the end");
    drop(orders);
    let cluster = keeper.await;
    print!("{}", cluster.trace.text());
    println!("{second} leads since {first} was killed");
}

/// Runs three nodes, kills those that are named to it, and reports each new leader.
async fn keep_time(orders: Receiver<&'static str>, report: Sender<&'static str>) -> Cluster {
    let mut cluster = Cluster::new();
    ["a", "b", "c"].into_iter().for_each(|name| cluster.start(name));
    let (began, beginning) = (Instant::now(), cluster.now);
    let mut leader = None;
    loop {
        let patience = cluster.next_deadline().unwrap_or(Time::MAX).since(beginning + began.elapsed());
        let deadline = async {
            Timer::after(patience).await;
            None
        };
        let order = or(async { Some(orders.recv().await) }, deadline).await;
        cluster.advance_to(beginning + began.elapsed());
        match order {
            Some(Ok(name)) => cluster.crash(name),
            None => {}
            Some(Err(_)) => return cluster,
        }
        let leads = cluster.leaders().first().copied();
        if let Some(name) = leads.filter(|_| leads != leader) {
            leader = leads;
            // Once the story is told, nobody listens.
            let _ = report.try_send(name);
        }
    }
}
