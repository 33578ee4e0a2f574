//! The members of an election in a log, as they come and go: `cargo run -p rolecall --example members [STORE]`.
//!
//! On the embedded store this program brings members of its own. Started on a ZooKeeper it shows those of other programs.

use std::error::Error;
use std::sync::Arc;

use rolecall::{Election, Member};
use tokio::sync::watch;

/// Logs every change until `enough` says so.
async fn log(mut members: watch::Receiver<Arc<[Member]>>, enough: impl Fn(&[Member]) -> bool) {
    loop {
        let now = Arc::clone(&members.borrow_and_update());
        let named = now.iter().map(|member| {
            let role = if member.epoch.is_some() { "leads" } else { "waits" };
            format!("{} in {} {role}", member.key.id, member.metadata.get("zone").unwrap_or("no zone"))
        });
        println!("members: {}", named.collect::<Vec<_>>().join(", "));
        if enough(&now) || members.changed().await.is_err() {
            return;
        }
    }
}

async fn member(id: &str, zone: &str) -> Result<Election, Box<dyn Error>> {
    let store = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    let metadata = [("zone", zone)].into_iter().collect();
    Ok(Election::builder(store, "billing").id(id).metadata(metadata).join().await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (a, b) = (member("a", "north").await?, member("b", "south").await?);
    let term = a.lead().await?;
    log(b.members(), |members| members.iter().any(|member| member.epoch.is_some()) && members.len() == 2).await;
    println!("a leaves");
    drop(term);
    a.leave().await;
    log(b.members(), |members| members.len() == 1).await;
    b.leave().await;
    Ok(())
}
