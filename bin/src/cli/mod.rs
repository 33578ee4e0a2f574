//! The command line: what was asked for, from a file, the environment and flags, and how it ended.

mod args;
mod failure;
mod file;
mod logging;
mod output;
mod parse;
mod value;

use std::process::ExitCode;

pub use args::{
    Check, Cli, Command, Demo, Exec, Handover, LogFormat, Node, OnSuspend, Replay, Resign, Sim, Status, StoreAt,
    Tuning, World,
};
pub use failure::Failure;
pub use output::print;
pub use rolecall_io::store::StoreUrl;
pub use value::{Address, ClockError, Name, Seeds};

/// Runs the command that the process was called with.
#[must_use]
pub fn main() -> ExitCode {
    match parse::parse(std::env::args_os()).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    logging::start(cli.log_format);
    match cli.command {
        Command::Demo(_) => Err(Failure::not_built("demo")),
        Command::Node(node) => node.store.require_built().and(Err(Failure::not_built("node"))),
        Command::Status(status) => status.store.require_built().and(Err(Failure::not_built("status"))),
        Command::Resign(_) => Err(Failure::not_built("resign")),
        Command::Handover(_) => Err(Failure::not_built("handover")),
        Command::Sim(_) => Err(Failure::not_built("sim")),
        Command::Check(_) => Err(Failure::not_built("check")),
        Command::Replay(_) => Err(Failure::not_built("replay")),
        Command::Exec(_) => Err(Failure::not_built("exec")),
    }
}
