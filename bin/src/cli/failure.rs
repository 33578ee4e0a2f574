//! How a command fails: one line on standard error, and an exit code that scripts can rely on.

use std::process::ExitCode;

/// Why a command did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Help or the version was asked for: printed to standard output, and no failure at all.
    #[error("{0}")]
    Asked(String),
    /// Wrong usage or configuration: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// Something failed at run time: exit code 1.
    #[error("{0}")]
    Failed(String),
    /// Stopped before the end, though nothing wrong was found so far: exit code 3.
    #[error("{0}")]
    Unfinished(String),
    /// A promise of the core was violated: exit code 70.
    #[error("a promise was violated, so this node stopped at once: {0}")]
    Halted(String),
    /// Standard output was closed by its reader, so there is nobody left to tell.
    #[error("standard output is closed")]
    OutputClosed,
}

impl Failure {
    /// `what` is known, but this version does not have it.
    #[must_use]
    pub fn not_built(what: &str) -> Self {
        Self::Usage(format!("{what}: not built in this version"))
    }

    /// Tells the person, and gives the exit code.
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
            Self::OutputClosed => ExitCode::SUCCESS,
        }
    }

    fn tell(&self, code: u8) -> ExitCode {
        use std::io::Write as _;
        // A closed standard error leaves the exit code to say it.
        drop(writeln!(std::io::stderr(), "rolecall: {self}"));
        ExitCode::from(code)
    }
}
