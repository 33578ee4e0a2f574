//! Reads one file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::skip::SkipReason;
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

/// Reads `file` of the documents in `folder`, however it grew since it was found.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn read(folder: &Path, file: &DocumentFile) -> io::Result<Contents> {
    let opened = File::open(folder.join(&file.path))?;
    let mut bytes = Vec::with_capacity(usize::try_from(file.stamp.size.min(MAX_FILE_BYTES)).unwrap_or_default());
    opened.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
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
