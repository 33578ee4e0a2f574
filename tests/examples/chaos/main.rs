//! Chaos for hours: a register on real stores that fail, over and over, with clients whose history is judged. One line for each
//! fault, and a report at the end; the first history without an order ends it.
//!
//! ```sh
//! cargo build -p rolecall-tests --bins && cargo run -p rolecall-tests --example chaos -- --hours 8
//! ```

use core::time::Duration;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use rolecall::{Entropy as _, SeededEntropy};
use rolecall_tests::chaos::{Account, EnsembleFault, Outcome, over_a_failover, over_an_ensemble};

/// Faults in one world, whose history is judged as a whole.
const FAULTS: usize = 12;
const FAILOVERS: usize = 3;

/// Breaks real stores and nodes under a register until the time is up.
#[derive(Debug, Parser)]
struct Options {
    /// Time to go on for, in hours.
    #[arg(long, default_value_t = 8.0)]
    hours: f64,
    /// Number from which the order of the faults follows.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Options::parse()).await {
        Ok(report) => {
            println!("{}", report.told());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: &Options) -> Outcome<Report> {
    let (begin, length) = (Instant::now(), Duration::from_secs_f64(options.hours * 3600.0));
    let mut entropy = SeededEntropy::new(options.seed);
    let mut report = Report::default();
    while begin.elapsed() < length {
        let account = if report.worlds % 4 == 3 {
            over_a_failover(FAILOVERS).await?
        } else {
            let mut pick = || EnsembleFault::ALL[usize::try_from(entropy.bits() % 7).unwrap_or(0)];
            let faults: Vec<_> = (0..FAULTS).map(|_| pick()).collect();
            over_an_ensemble(&faults).await?
        };
        eprintln!("world {}, after {} s\n{account}", report.worlds + 1, begin.elapsed().as_secs());
        report.add(&account);
    }
    Ok(report)
}

/// What all worlds had in common.
#[derive(Default)]
struct Report {
    worlds: usize,
    asked: usize,
    done: usize,
    terms: usize,
    served: BTreeMap<String, Vec<Duration>>,
}

impl Report {
    fn add(&mut self, account: &Account) {
        self.worlds += 1;
        self.asked += account.asked;
        self.done += account.done;
        self.terms += account.terms;
        for survived in &account.faults {
            self.served.entry(survived.fault.clone()).or_default().push(survived.served);
        }
    }

    fn told(&self) -> String {
        let Self { worlds, asked, done, terms, served } = self;
        let faults: usize = served.values().map(Vec::len).sum();
        let mut told = format!(
            "{worlds} worlds, {faults} faults, {terms} terms, {done} of {asked} operations done; no history without an order\n\n\
             | fault | times | served again: median | longest |\n| --- | --- | --- | --- |\n"
        );
        for (fault, times) in served {
            let mut times = times.clone();
            times.sort();
            let seconds = |time: Option<&Duration>| time.map_or(0.0, Duration::as_secs_f64);
            let (median, longest) = (seconds(times.get(times.len() / 2)), seconds(times.last()));
            told.push_str(&format!("| {fault} | {} | {median:.1} s | {longest:.1} s |\n", times.len()));
        }
        told
    }
}
