//! Measures the search beside engines that run on this machine: the same documents, the same questions, one run. The
//! documents are the entries of a dictionary, one file an entry. A question is an OR of one to three words that the
//! documents have; ten hits with snippets are the answer. No question is asked twice of one engine.
//!
//! ```sh
//! sudo apt-get install --no-install-recommends dict-gcide zookeeper python3-xapian
//! cargo run --release -p rolecall-tests --example search_peers
//! ```
//!
//! Rolecall's three nodes are three processes on a real ZooKeeper, asked over HTTP at the leader. tantivy, the engine
//! under Rolecall, is a library in this process with one index. SQLite and Xapian are libraries in the processes of their
//! clients. All share this machine's cores, and the load comes from the same machine.

mod bare;
mod dictionary;
mod latencies;
mod ours;
mod python;
mod questions;
mod table;
mod usage;

use core::error::Error;
use core::time::Duration;
use std::process::ExitCode;

use clap::Parser;

use crate::latencies::Load;
use crate::questions::Questions;
use crate::table::{Row, Table};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Measures the search of three nodes beside other engines, over the same documents and questions.
#[derive(Debug, Parser)]
struct Options {
    /// Number of documents, at most as many as the dictionary has entries.
    #[arg(long, default_value_t = usize::MAX)]
    documents: usize,
    /// Seconds for which each number of clients asks each engine.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Number of clients that ask at the same time; may be given several times.
    #[arg(long = "clients", default_values_t = [1, 8, 64])]
    clients: Vec<usize>,
    /// Seconds over which the nodes' use of the processor at rest is measured.
    #[arg(long, default_value_t = 30)]
    idle: u64,
    /// Engine to measure; may be given several times. Default: all.
    #[arg(long = "engine", value_enum)]
    engines: Vec<Engine>,
    /// Python interpreter with the modules sqlite3 and xapian.
    #[arg(long, default_value = "/usr/bin/python3")]
    python: std::path::PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Engine {
    Rolecall,
    Tantivy,
    Sqlite,
    Xapian,
}

fn main() -> ExitCode {
    // The nodes are processes of this program.
    if std::env::args().nth(1).as_deref() == Some("node") {
        return rolecall_cli::main();
    }
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Outcome<()> {
    let is_wanted = |engine| options.engines.is_empty() || options.engines.contains(&engine);
    eprintln!("writing the documents");
    let entries = dictionary::entries(options.documents)?;
    let folder = tempfile::TempDir::new()?;
    dictionary::write(&entries, folder.path())?;
    let questions = Questions::over(&entries);
    let loads = options.clients.iter().map(|&clients| Load { clients, length: Duration::from_secs(options.seconds) });
    let loads: Vec<_> = loads.collect();

    let mut table = Table::new(entries.len(), &options.clients);
    let mut add = |row: Row| {
        eprintln!("  {row}");
        table.add(row);
    };
    if is_wanted(Engine::Tantivy) {
        eprintln!("bare tantivy");
        bare::measure(folder.path(), &questions, &loads)?.into_iter().for_each(&mut add);
    }
    for (engine, peer) in [(Engine::Sqlite, &python::SQLITE), (Engine::Xapian, &python::XAPIAN)] {
        if is_wanted(engine) {
            eprintln!("{}", peer.engine);
            add(python::measure(peer, &options.python, folder.path(), &questions, &loads)?);
        }
    }
    if is_wanted(Engine::Rolecall) {
        eprintln!("Rolecall");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let idle = Duration::from_secs(options.idle);
        add(runtime.block_on(ours::measure(folder.path(), &questions, &loads, idle))?);
    }
    println!("{table}");
    Ok(())
}
