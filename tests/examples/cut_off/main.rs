//! Measures who leads while a server of the ensemble is cut off from the others. Rolecall, Apache Curator's LeaderLatch
//! and kazoo's Election contend on the same servers through the same cut. For each, the example measures when its old
//! leader stopped and when its next one started.
//!
//! ```sh
//! sudo apt-get install --no-install-recommends zookeeper libcurator-recipes-java default-jdk-headless python3-venv
//! python3 -m venv /tmp/kazoo && /tmp/kazoo/bin/pip install kazoo==2.11.0
//! cargo run -p rolecall-tests --example cut_off -- --python /tmp/kazoo/bin/python
//! ```
//!
//! Everything runs on this machine, by one clock. The `old` contenders lead through one server, and the `new` ones wait
//! on the other two. Then that server is cut off: traffic between it and the others is held in both directions, and no
//! connection ends.

mod measure;
mod table;

use core::error::Error;
use core::time::Duration;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rolecall_tests::ensemble::Timing;
use rolecall_tests::peers::Peers;
use rolecall_tests::tools::exit_code;

use crate::measure::{Cut, measure};
use crate::table::Table;

/// Measures when leaders stop, and when the next ones start, while a ZooKeeper server is cut off from the others.
#[derive(Debug, Parser)]
struct Options {
    /// Number of times that each server is cut off.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Session timeout of the contenders in seconds; may be given several times.
    #[arg(long = "session", value_name = "SECONDS", default_values_t = [10, 6])]
    sessions: Vec<u64>,
    /// ZooKeeper's tickTime in milliseconds.
    #[arg(long, default_value_t = 2000)]
    tick: u64,
    /// ZooKeeper's syncLimit: ticks of silence after which an isolated server notices.
    #[arg(long, default_value_t = 5)]
    sync_limit: u32,
    /// Python interpreter that has kazoo.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
}

#[tokio::main]
async fn main() -> ExitCode {
    exit_code(run(&Options::parse()).await)
}

async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let peers = Peers::find(&options.python)?;
    let mut table = Table::default();
    let outcome = fill(&mut table, &peers, options).await;
    println!("{table}");
    println!("{peers}, tickTime {} ms, syncLimit {}", options.tick, options.sync_limit);
    outcome.map_err(|error| format!("{error}; the contenders wrote:\n{}", peers.logs()).into())
}

async fn fill(table: &mut Table, peers: &Peers, options: &Options) -> Result<(), Box<dyn Error>> {
    let timing = Timing { tick: Duration::from_millis(options.tick), sync_limit: options.sync_limit };
    for session in &options.sessions {
        for run in 1..=options.runs {
            for cut in [Cut::Follower, Cut::Leader] {
                eprintln!("run {run} of {}, sessions of {session} s, {cut} is cut off", options.runs);
                for (kind, gap) in measure(peers, cut, timing, Duration::from_secs(*session)).await? {
                    eprintln!("  {kind}: {gap}");
                    table.add(*session, kind, cut, gap);
                }
            }
        }
    }
    Ok(())
}
