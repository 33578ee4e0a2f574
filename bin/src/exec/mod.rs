//! `rolecall exec`: a program of the user's that runs where its role is.
//!
//! ```text
//!   rolecall exec                  the guard (one for each run)          the program
//!   ┌───────────────────────┐      ┌───────────────────────────┐
//!   │ member of an election │ ───► │ adopts all descendants     │ ───►   in a session of its own,
//!   │ Supervisor: which run │ until│ Leash: TERM, grace, KILL   │        dies with the guard
//!   │ starts, stops, rests  │ ◄─── │ by its own clock           │
//!   └───────────────────────┘ gone └───────────────────────────┘
//! ```
//!
//! The guard is a process of its own, so that the program ends in time even if `rolecall exec` is stopped or killed: it knows the
//! end of the term on `CLOCK_BOOTTIME`, and it sees the end of its socket when `rolecall exec` dies. `rolecall exec` in turn kills
//! a guard that is late, with all that it guards. Both machines that decide, [`supervisor`] and [`leash`], are pure.

mod backoff;
mod command;
mod descendants;
mod driver;
mod end;
mod files;
mod guard;
mod held;
mod kills;
mod leash;
mod limits;
mod program;
mod run;
mod script;
mod supervisor;
mod wire;
mod words;

use std::os::unix::process::CommandExt as _;
use std::process::Command;

pub(crate) use command::{Finish, Member, supervise};
pub(crate) use guard::main as guard;
pub(crate) use limits::Limits;
pub(crate) use program::main as program;
pub(crate) use script::{Roles, Script};
pub(crate) use words::Words;

use crate::service_manager;

/// First argument of the process that guards a run.
pub(crate) const GUARD: &str = "exec-guard";
/// First argument of the process that becomes the program.
pub(crate) const PROGRAM: &str = "exec-program";
/// Name of both in a list of processes.
const NAME: &str = "rolecall";

/// Command that starts this very program, even if its file was replaced meanwhile: the link leads to it.
fn own_program() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0(NAME);
    // They are for this process alone.
    for name in service_manager::VARIABLES {
        command.env_remove(name);
    }
    command
}
