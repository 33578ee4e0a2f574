//! Who leads while a server of the ensemble is cut off from the others? Rolecall, Apache Curator's LeaderLatch and kazoo's
//! Election contend on the same servers through the same cut; for each it is measured when its old leader stopped and
//! when its next one started.
//!
//! ```sh
//! apt-get install --no-install-recommends zookeeper libcurator-recipes-java default-jdk-headless python3-kazoo
//! cargo run --release -p rolecall-tests --example cut_off
//! ```

mod child;
mod measure;
mod table;
mod tools;

use core::error::Error;
use core::time::Duration;
use std::path::PathBuf;

use clap::Parser;
use rolecall_tests::ensemble::Timing;

use crate::measure::{Cut, measure};
use crate::table::Table;
use crate::tools::Tools;

/// Measures when leaders stop, and when the next ones start, while a ZooKeeper server is cut off from the others.
#[derive(Debug, Parser)]
struct Options {
    /// How often each server is cut off.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// The contenders' session timeout in seconds; may be given several times.
    #[arg(long = "session", value_name = "SECONDS", default_values_t = [10, 6])]
    sessions: Vec<u64>,
    /// ZooKeeper's tickTime in milliseconds.
    #[arg(long, default_value_t = 2000)]
    tick: u64,
    /// ZooKeeper's syncLimit: after so many ticks of silence a server that is cut off notices it.
    #[arg(long, default_value_t = 5)]
    sync_limit: u32,
    /// A Python that has kazoo.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let tools = Tools::find(&options.python)?;
    let timing = Timing { tick: Duration::from_millis(options.tick), sync_limit: options.sync_limit };
    let mut table = Table::default();
    for session in &options.sessions {
        for run in 1..=options.runs {
            for cut in [Cut::Follower, Cut::Leader] {
                let measured = measure(&tools, cut, timing, Duration::from_secs(*session)).await?;
                eprintln!("sessions of {session} s, {cut} is cut off, {run} of {}", options.runs);
                for (kind, gap) in measured {
                    eprintln!("  {kind}: {gap}");
                    table.add(*session, kind, cut, gap);
                }
            }
        }
    }
    println!("{table}");
    println!("{tools}, tickTime {} ms, syncLimit {}", options.tick, options.sync_limit);
    Ok(())
}
