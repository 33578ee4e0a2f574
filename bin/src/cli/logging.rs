//! Logs on standard error.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;

use super::LogFormat;

/// Starts logging for the process. `RUST_LOG` selects what is logged; without it, `level` and above.
pub(crate) fn start(format: LogFormat, level: &str) {
    let (filter, malformed) = match EnvFilter::try_from_default_env() {
        Ok(filter) => (filter, None),
        Err(error) => (EnvFilter::new(level), Some(error)),
    };
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        // A closed standard error must not stop a node.
        .log_internal_errors(false);
    // If logging was already started in this process (as in tests), it stays as it was.
    let started = match format {
        LogFormat::Text => lines.with_target(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    if let (Ok(()), Ok(asked), Some(error)) = (started, std::env::var(EnvFilter::DEFAULT_ENV), malformed) {
        tracing::warn!("RUST_LOG={asked:?} is ignored: {error}; accepted: a level, or TARGET=LEVEL,…");
    }
}
