//! A folder that is scanned when something in it may have changed.
//!
//! A scan looks at every file, which costs too much to do it every few seconds for nothing. The kernel says when something
//! changes. Where it does not, as on network file systems, a folder's own date tells of files that come, go or are replaced,
//! and the other changes are found by scans that take a small share of the time.

use core::time::Duration;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use super::source::Source;
use super::walk::{DocumentFile, FolderError, Scan, scan_with};
use super::watch::Watch;

/// Longest time between two scans.
const AT_MOST: Duration = Duration::from_secs(600);
/// Time between two scans of files that are not watched, as a multiple of the time that one takes: a scan that takes 0.4 s is made
/// every 80 s, for half a percent of a processor.
const PAUSES: u32 = 200;

/// Documents in a folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    last: Mutex<Option<LastScan>>,
}

#[derive(Debug)]
struct LastScan {
    watch: Watch,
    /// Path of the folder without links, which may come to lead elsewhere.
    real: PathBuf,
    ended: Instant,
    took: Duration,
    /// True if every file's stamp was old enough to be trusted.
    is_settled: bool,
}

impl Folder {
    /// Documents in the folder at `path`.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), last: Mutex::default() }
    }

    /// Locks the last scan, which is replaced as a whole, so a poisoned lock is safe to use.
    fn last(&self) -> MutexGuard<'_, Option<LastScan>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LastScan {
    fn has_news(&self, path: &Path) -> bool {
        let pause = if self.watch.has_notices_of_all() { AT_MOST } else { (self.took * PAUSES).min(AT_MOST) };
        !self.is_settled
            || self.ended.elapsed() >= pause
            || path.canonicalize().ok().as_ref() != Some(&self.real)
            || self.watch.has_news()
    }
}

impl Source for Folder {
    fn has_news(&self) -> bool {
        self.last().as_ref().is_none_or(|last| last.has_news(&self.path))
    }

    fn scan(&self, now: SystemTime) -> Result<Scan, FolderError> {
        let begun = Instant::now();
        let mut last = self.last();
        // Until the scan is done, the last one is no base for anything.
        *last = None;
        let real = self.path.canonicalize();
        let mut watch = Watch::new();
        let scan = scan_with(&self.path, now, &mut |path| watch.add(path, now))?;
        if let Ok(real) = real {
            let is_settled = scan.documents.iter().all(|file| file.settled);
            *last = Some(LastScan { watch, real, ended: Instant::now(), took: begun.elapsed(), is_settled });
        }
        Ok(scan)
    }

    fn bytes(&self, file: &DocumentFile) -> io::Result<Vec<u8>> {
        self.path.bytes(file)
    }
}

#[cfg(test)]
mod tests;
