//! Sources of documents.

use core::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::SystemTime;

use super::read::MAX_FILE_BYTES;
use super::walk::{DocumentFile, FolderError, Scan, scan};

/// Source of documents: a folder, given by its path, or anything else that can list files and return their bytes.
pub trait Source: fmt::Debug + Send + Sync {
    /// True if a scan may find something else than the last one did.
    fn has_news(&self) -> bool {
        true
    }

    /// Lists the files. `now` is the wall-clock time.
    ///
    /// # Errors
    /// If the files cannot be listed.
    fn scan(&self, now: SystemTime) -> Result<Scan, FolderError>;

    /// Reads a file that a scan has found. Of a file larger than [`MAX_FILE_BYTES`], returns the first
    /// `MAX_FILE_BYTES + 1` bytes.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn bytes(&self, file: &DocumentFile) -> io::Result<Vec<u8>>;
}

impl Source for PathBuf {
    fn scan(&self, now: SystemTime) -> Result<Scan, FolderError> {
        scan(self, now)
    }

    fn bytes(&self, file: &DocumentFile) -> io::Result<Vec<u8>> {
        let opened = File::open(self.join(&file.path))?;
        let mut bytes = Vec::with_capacity(usize::try_from(file.stamp.size.min(MAX_FILE_BYTES)).unwrap_or_default());
        opened.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
