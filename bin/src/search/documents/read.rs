//! Reads one file.

use std::io;

use super::skip::SkipReason;
use super::source::Source;
use super::walk::DocumentFile;
use crate::search::hash::StableHash;

/// The largest file that is searched, in bytes.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// A hash of a file's bytes.
pub type Content = u64;

/// A file's bytes, where they are text.
pub(crate) struct Contents {
    /// The hash of all bytes, text or not.
    pub(crate) hash: Content,
    pub(crate) text: Result<String, SkipReason>,
}

/// Reads `file` of `documents`, however it grew since it was found.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn read(documents: &dyn Source, file: &DocumentFile) -> io::Result<Contents> {
    let bytes = documents.bytes(file)?;
    let hash = StableHash::new().part(&bytes).finish();
    let text = if bytes.len() as u64 > MAX_FILE_BYTES {
        Err(SkipReason::TooLarge)
    } else if bytes.contains(&0) {
        Err(SkipReason::Binary)
    } else {
        String::from_utf8(bytes).map_err(|_| SkipReason::NotUtf8)
    };
    Ok(Contents { hash, text })
}
