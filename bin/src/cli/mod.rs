//! Command line: options from flags, the environment and a file, failures with their exit code, and logging.

mod args;
mod environment;
mod failure;
mod file;
mod logging;
mod nearest;
mod output;
mod parse;
mod value;

pub use args::{
    Application, Check, Cli, Command, Completions, Demo, Election, Exec, Handover, LogFormat, Manual, Node, OnSuspend,
    Replay, Resign, Sim, Status, StoreAt, Tuning, World,
};
pub(crate) use environment::report_kubernetes;
pub use failure::Failure;
pub use file::Setting;
pub(crate) use logging::start as start_logging;
pub use output::print;
pub use parse::configuration;
pub(crate) use parse::{definitions, parse};
pub use rolecall::store::StoreUrl;
pub use value::{Address, ClockError, Memory, Name, Seeds};
