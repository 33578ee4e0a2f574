//! Measures planned hand-overs: Rolecall's Election beside the bare operations of ZooKeeper that a hand-over needs, Apache
//! Curator's LeaderLatch and kazoo's Election, all on one server, with as many contenders as are asked for. It also measures
//! what an unplanned change costs, and what a node costs that has many members beside it.
//!
//! ```sh
//! sudo apt-get install --no-install-recommends zookeeper libcurator-recipes-java default-jdk-headless python3-venv
//! python3 -m venv /tmp/kazoo && /tmp/kazoo/bin/pip install kazoo==2.11.0
//! cargo run --release -p rolecall-tests --example handover -- --python /tmp/kazoo/bin/python
//! ```

mod bare;
mod contest;
mod failures;
mod own;
mod peer;
mod scale;
mod table;
mod tap;

use core::error::Error;
use core::time::Duration;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Parser;
use rolecall_tests::peers::Peers;
use rolecall_tests::tools::exit_code;
use rolecall_tests::zookeeper::ZooKeeperServer;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Long, so that few heartbeats fall into a measurement. A hand-over waits for no session.
const SESSION: Duration = Duration::from_secs(40);

/// Measures hand-overs of Rolecall, of the bare operations, of Curator and of kazoo.
#[derive(Debug, Parser)]
struct Options {
    /// Numbers of contenders, as a comma-separated list.
    #[arg(long, value_delimiter = ',', default_values_t = [3, 50, 1000])]
    contenders: Vec<usize>,
    /// Number of hand-overs that are timed for each kind and number of contenders.
    #[arg(long, default_value_t = 30)]
    runs: usize,
    /// Number of failures of each kind that are timed.
    #[arg(long, default_value_t = 5)]
    failures: usize,
    /// Number of members beside the node whose memory and processor time are measured; 0 leaves it out.
    #[arg(long, default_value_t = 1000)]
    members: usize,
    /// Python interpreter that has kazoo.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
}

#[tokio::main]
async fn main() -> ExitCode {
    exit_code(run(&Options::parse()).await)
}

async fn run(options: &Options) -> Outcome<()> {
    let peers = Peers::find(&options.python)?;
    let server = ZooKeeperServer::start().await?;
    let outcome = contests(options, &peers, &server).await;
    outcome.map_err(|error| format!("{error}; the peers wrote:\n{}", peers.logs()))?;
    if options.members > 0 {
        build_the_binary()?;
        println!("{}", scale::measure(&server, options.members).await?);
    }
    drop(server);
    if options.failures > 0 {
        build_the_binary()?;
        println!("{}", failures::measure(options.failures).await?);
    }
    println!("{peers}");
    Ok(())
}

async fn contests(options: &Options, peers: &Peers, server: &ZooKeeperServer) -> Outcome<()> {
    let mut table = table::Table::default();
    for contenders in &options.contenders {
        for kind in contest::Kind::ALL.into_iter().filter(|kind| kind.bears(*contenders)) {
            eprintln!("{contenders} contenders: {kind}");
            table.add(*contenders, kind, contest::measure(peers, server, kind, *contenders, options.runs).await?);
        }
    }
    println!("{table}");
    Ok(())
}

/// Builds `rolecall` beside this example, in the same profile: cargo builds no binary for an example.
fn build_the_binary() -> Outcome<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--locked", "-p", "rolecall-tests", "--bin", "rolecall-under-test"]);
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    let status = build.status()?;
    if status.success() { Ok(()) } else { Err(format!("cargo build: {status}").into()) }
}
