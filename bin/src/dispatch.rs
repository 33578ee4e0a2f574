//! The process: its command line is parsed, and the command that it names is run.

use std::process::ExitCode;

use crate::cli::{self, Cli, Command, Failure};
use crate::{exec, run};

/// Runs the command that the process was called with.
#[must_use]
pub fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    // Two steps of `rolecall exec`, which nobody else starts and which are quick to begin.
    match words.next() {
        Some(word) if word == exec::GUARD => return exec::guard(words),
        Some(word) if word == exec::PROGRAM => return exec::program(words),
        Some(_) | None => {}
    }
    match cli::parse(std::env::args_os()).and_then(execute) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn execute(cli: Cli) -> Result<(), Failure> {
    let level = match &cli.command {
        Command::Node(_) | Command::Exec(_) => "info",
        // The terminal is for the output of these commands.
        Command::Demo(_)
        | Command::Status(_)
        | Command::Resign(_)
        | Command::Handover(_)
        | Command::Check(_)
        | Command::Replay(_)
        | Command::Completions(_)
        | Command::Manual(_) => "warn",
        // Its nodes would only report the faults that the simulation injects.
        Command::Sim(_) => "off",
    };
    cli::start_logging(cli.log_format, level);
    cli::report_kubernetes();
    match cli.command {
        Command::Demo(demo) => run::demo(demo),
        Command::Node(node) => run::node(&node),
        Command::Status(options) => run::status(&options),
        Command::Resign(options) => run::resign(&options),
        Command::Handover(_) => Err(Failure::not_built("handover")),
        #[cfg(feature = "sim")]
        Command::Sim(options) => run::sim(&options),
        #[cfg(not(feature = "sim"))]
        Command::Sim(_) => Err(Failure::not_built("sim")),
        #[cfg(feature = "sim")]
        Command::Check(options) => run::check(&options),
        #[cfg(not(feature = "sim"))]
        Command::Check(_) => Err(Failure::not_built("check")),
        Command::Replay(options) => run::replay(&options),
        Command::Exec(options) => run::exec(&options, cli.log_format),
        Command::Completions(options) => run::completions(&options),
        Command::Manual(options) => run::manual(&options),
    }
}
