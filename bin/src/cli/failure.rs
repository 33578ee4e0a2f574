//! Failures of commands: one line on standard error, and an exit code that scripts can rely on.

use std::process::ExitCode;

/// Reason why a command did not do what it was asked to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Help or the version was asked for. It is printed to standard output, and this is not a failure.
    #[error("{0}")]
    Asked(String),
    /// Wrong usage or configuration: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// Something failed at run time: exit code 1.
    #[error("{0}")]
    Failed(String),
    /// The command stopped before the end and found nothing wrong so far: exit code 3.
    #[error("{0}")]
    Unfinished(String),
    /// A promise of the core was violated: exit code 70.
    #[error("a promise was violated, so this node stopped at once: {0}")]
    Halted(String),
    /// The command ends with an exit code of its own. Without words, nothing is printed.
    #[error("{told}")]
    Exit {
        /// The exit code.
        code: u8,
        /// The reason, for people.
        told: String,
    },
    /// The reader closed standard output, so there is nobody left to report to.
    #[error("standard output is closed")]
    OutputClosed,
}

impl Failure {
    /// Failure for `what`, which is known but not part of this version.
    #[must_use]
    pub fn not_built(what: &str) -> Self {
        Self::Usage(format!("{what}: not built in this version"))
    }

    /// Prints the failure and returns the exit code.
    #[must_use]
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::Asked(text) => match super::print(text) {
                Ok(()) | Err(Self::OutputClosed) => ExitCode::SUCCESS,
                Err(failure) => failure.report(),
            },
            Self::Usage(_) => self.tell(2),
            Self::Failed(_) => self.tell(1),
            Self::Unfinished(_) => self.tell(3),
            Self::Halted(_) => self.tell(70),
            Self::Exit { code, told } if told.is_empty() => ExitCode::from(*code),
            Self::Exit { code, .. } => self.tell(*code),
            Self::OutputClosed => ExitCode::SUCCESS,
        }
    }

    fn tell(&self, code: u8) -> ExitCode {
        use std::io::Write as _;
        // If standard error is closed, the exit code is all that is left.
        drop(writeln!(std::io::stderr(), "rolecall: {self}"));
        ExitCode::from(code)
    }
}
