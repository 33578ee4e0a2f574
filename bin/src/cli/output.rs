//! Results on standard output.

use std::io::{self, ErrorKind, Write as _};

use super::Failure;

/// Writes `text` to standard output.
///
/// # Errors
/// [`Failure::OutputClosed`] where the reader has gone (`rolecall status | head -1`), which is no failure of ours;
/// [`Failure::Failed`] where the text could not be written, as on a full disk.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(|error| {
        if error.kind() == ErrorKind::BrokenPipe {
            Failure::OutputClosed
        } else {
            Failure::Failed(format!("can't write to standard output: {error}"))
        }
    })
}
