//! Where documents come from.

use core::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::SystemTime;

use super::read::MAX_FILE_BYTES;
use super::walk::{DocumentFile, FolderError, Scan, scan};

/// Where documents come from: a folder, by its path, or whatever else can list files and tell their bytes.
pub trait Source: fmt::Debug + Send + Sync {
    /// Which files there are. `now` is the time of day.
    ///
    /// # Errors
    /// If it cannot be told.
    fn scan(&self, now: SystemTime) -> Result<Scan, FolderError>;

    /// The bytes of a file that a scan has found; of one above [`MAX_FILE_BYTES`] the first `MAX_FILE_BYTES + 1`.
    ///
    /// # Errors
    /// If it cannot be read.
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
