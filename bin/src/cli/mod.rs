//! Command line: options from flags, the environment and a file, and the exit code.

mod args;
mod environment;
mod failure;
mod file;
mod logging;
mod nearest;
mod output;
mod parse;
mod value;

use std::process::ExitCode;

use crate::run;

pub use args::{
    Application, Check, Cli, Command, Demo, Exec, Handover, LogFormat, Node, OnSuspend, Replay, Resign, Sim, Status,
    StoreAt, Tuning, World,
};
pub use failure::Failure;
pub use file::Setting;
pub use output::print;
pub use parse::configuration;
pub use rolecall::store::StoreUrl;
pub use value::{Address, ClockError, Memory, Name, Seeds};

/// Runs the command that the process was called with.
#[must_use]
pub fn main() -> ExitCode {
    match parse::parse(std::env::args_os()).and_then(execute) {
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
        | Command::Replay(_) => "warn",
        // Its nodes would only report the faults that the simulation injects.
        Command::Sim(_) => "off",
    };
    logging::start(cli.log_format, level);
    match cli.command {
        Command::Demo(demo) => run::demo(demo),
        Command::Node(node) => run::node(&node),
        Command::Status(options) => run::status(&options),
        Command::Resign(_) => Err(Failure::not_built("resign")),
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
        Command::Exec(_) => Err(Failure::not_built("exec")),
    }
}
