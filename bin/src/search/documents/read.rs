//! Reads one file.

use std::io;

use super::encoding::{Charset, decode};
use super::skip::SkipReason;
use super::source::Source;
use super::walk::DocumentFile;
use crate::search::hash::StableHash;

/// Size of the largest file that is searched, in bytes.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// Hash of a file's bytes.
pub type Content = u64;

/// Contents of a file.
pub(crate) struct Contents {
    /// Hash of all bytes, whether they are text or not.
    pub(crate) hash: Content,
    /// The text with its encoding.
    pub(crate) text: Result<(String, Charset), SkipReason>,
}

/// Reads `file` from `documents`. The file may have grown since the scan found it.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn read(documents: &dyn Source, file: &DocumentFile) -> io::Result<Contents> {
    let bytes = documents.bytes(file)?;
    let hash = StableHash::new().part(&bytes).finish();
    let text = if bytes.len() as u64 > MAX_FILE_BYTES { Err(SkipReason::TooLarge) } else { decode(file.kind, bytes) };
    Ok(Contents { hash, text })
}
