//! Tools in Python that check files or contend, which `.ci/setup` installs into a folder of the user's cache, and parts of programs.

use core::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Path of a tool, such as `hadolint` or `python3`, which has kazoo.
///
/// # Panics
/// If it is not installed; the message says how to install it.
#[must_use]
pub fn tool(name: &str) -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    let tool = cache.unwrap_or_else(home).join("rolecall/tools/bin").join(name);
    assert!(tool.exists(), "{} is missing; to install it: bash .ci/setup", tool.display());
    tool
}

/// Root of the repository.
#[must_use]
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("/"))
}

/// Prints the error of an example, if there is one, and returns its exit code.
#[must_use]
pub fn exit_code(outcome: Result<(), Box<dyn Error>>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
