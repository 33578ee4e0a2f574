//! Programs of a run.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Limits, Words};

/// Role in which a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// While this member leads.
    Leader,
    /// While it is a member and does not lead.
    Worker,
}

impl Role {
    /// Name of the role, as the program finds it in its environment.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Leader => "leader",
            Self::Worker => "worker",
        }
    }
}

/// Programs of one role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Script {
    /// Hook that runs first, to its end.
    pub(crate) enter: Option<Words>,
    /// Program that runs for as long as the role lasts. Without one, the role lasts all the same.
    pub(crate) main: Option<Words>,
    /// Hook that runs last, once nothing else of the run is left.
    pub(crate) leave: Option<Words>,
}

impl Script {
    /// All programs.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Words> {
        [&self.enter, &self.main, &self.leave].into_iter().flatten()
    }
}

/// Scripts of both roles.
#[derive(Clone, Debug)]
pub(crate) struct Roles {
    /// Script of the leader.
    pub(crate) leader: Script,
    /// Script of a worker; `None` if nothing runs while this member does not lead.
    pub(crate) worker: Option<Script>,
}

/// Everything that a guard must know to begin.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Assignment {
    pub(super) script: Script,
    pub(super) limits: Limits,
    /// End of the term so far, in nanoseconds of `CLOCK_BOOTTIME`; `None` for a worker, whose run has no end.
    pub(super) until: Option<u64>,
    /// Folder of the files that the program reads, which the guard removes if nobody else can.
    pub(super) folder: PathBuf,
}
