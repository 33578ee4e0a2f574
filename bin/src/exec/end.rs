//! End of a program, and the exit code that tells it.

use core::fmt;

use rustix::process::WaitStatus;
use serde::{Deserialize, Serialize};

/// End of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum End {
    /// It exited with this code.
    Exited(u8),
    /// This signal ended it.
    Signaled(u8),
}

impl End {
    /// The end that `status` tells; `None` if the program has not ended.
    pub(super) fn of(status: WaitStatus) -> Option<Self> {
        let number = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
        let exited = status.exit_status().map(|code| Self::Exited(number(code)));
        exited.or_else(|| status.terminating_signal().map(|signal| Self::Signaled(number(signal))))
    }

    /// True if it exited with 0.
    pub(super) fn is_success(self) -> bool {
        self == Self::Exited(0)
    }

    /// Exit code of a process that passes this end on, as shells do.
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Exited(code) => code,
            Self::Signaled(signal) => 128_u8.saturating_add(signal),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(formatter, "exited with {code}"),
            Self::Signaled(number) => write!(formatter, "was ended by signal {number}"),
        }
    }
}

/// Reason for which a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Cause {
    /// The program ended by itself, or could not be started.
    Itself,
    /// `rolecall exec` asked for it.
    Asked,
    /// The end of the term came near without a renewal.
    Time,
    /// `rolecall exec` is gone.
    Orphaned,
}
