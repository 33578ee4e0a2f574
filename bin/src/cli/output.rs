//! Output of results on standard output.

use std::io::{self, ErrorKind, Write as _};

use super::Failure;

/// Writes `text` to standard output.
///
/// # Errors
/// [`Failure::OutputClosed`] if the reader has gone (`rolecall status | head -1`), which is not our failure.
/// [`Failure::Failed`] if the text cannot be written, for example on a full disk.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(|error| {
        if error.kind() == ErrorKind::BrokenPipe {
            Failure::OutputClosed
        } else {
            Failure::Failed(format!("cannot write to standard output: {error}"))
        }
    })
}
