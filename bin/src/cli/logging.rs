//! Logs on standard error.

use std::io;

use tracing_subscriber::EnvFilter;

use super::LogFormat;

/// Starts logging for the process; `RUST_LOG` selects what is shown, `info` and above by default.
pub(super) fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // A second start in one process (as in tests) keeps the first.
    drop(match format {
        LogFormat::Text => lines.with_target(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    });
}
