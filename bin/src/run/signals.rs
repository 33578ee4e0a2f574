//! Signals SIGTERM and SIGINT: the first one ends the process in good order, the second one at once.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::Failure;

/// Listener for the signals that ask this process to end.
#[derive(Debug)]
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(super) fn new() -> Result<Self, Failure> {
        let listen =
            |kind| signal(kind).map_err(|error| Failure::Failed(format!("cannot listen for signals: {error}")));
        Ok(Self { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    /// Waits for the next signal and returns its name.
    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }

    /// Ends the process at the next signal, even if the shutdown is still under way.
    pub(super) fn end_at_next(mut self) {
        tokio::spawn(async move {
            let name = self.next().await;
            tracing::warn!("a second signal, {name}: ending at once");
            std::process::exit(1);
        });
    }
}
