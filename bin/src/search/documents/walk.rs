//! Finds the files of the documents folder from names and stamps alone, without opening a file.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use walkdir::{DirEntry, WalkDir};

use super::kind::Kind;
use super::read::MAX_FILE_BYTES;
use super::skip::{SkipReason, Skipped};

/// File that may be a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFile {
    /// Path relative to the documents folder, written with `/`.
    pub path: String,
    /// Kind of document.
    pub kind: Kind,
    /// Stamp that shows whether the file changed.
    pub stamp: Stamp,
    /// True if the stamp is old enough to be trusted. A file that is written twice within one tick of the file system's
    /// clock keeps its stamp, so a file with a fresh stamp is read again later.
    pub settled: bool,
}

/// Metadata of a file that changes when the file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last write to the contents, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Time of the last change to the contents or metadata, in nanoseconds since 1970. It changes even if a copy
    /// preserves the modification time of its source.
    pub changed_ns: i64,
    /// Inode number. It changes when another file takes the same name.
    pub inode: u64,
}

/// Contents of the documents folder.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Files that may be documents, ordered by path.
    pub documents: Vec<DocumentFile>,
    /// All other files, ordered by path.
    pub skipped: Vec<Skipped>,
}

/// Problem that makes the whole documents folder unusable.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Nothing exists at the path.
    #[error("the documents folder {0:?} does not exist: create it, or give another")]
    Missing(PathBuf),
    /// The path leads to something other than a folder.
    #[error("{0:?} is not a folder: give the folder that contains the documents")]
    NotAFolder(PathBuf),
    /// The folder cannot be listed.
    #[error("cannot read the documents folder {0:?}: {1}")]
    Unreadable(PathBuf, io::Error),
}

/// Age from which a stamp is trusted: more than the coarsest tick of a file system in use (FAT: 2 s).
const SETTLES_AFTER: Duration = Duration::from_secs(3);

/// Walks `folder` and everything below it.
///
/// Links are followed, except a link to a folder that contains the link. Names that begin with a dot are ignored. `now` is
/// the wall-clock time.
///
/// # Errors
/// If the folder itself is missing, not a folder or unreadable. Anything wrong inside the folder is skipped.
pub fn scan(folder: &Path, now: SystemTime) -> Result<Scan, FolderError> {
    let mut scan = Scan::default();
    let mut entries = WalkDir::new(folder).follow_links(true).into_iter();
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) if entry.depth() == 0 && !entry.file_type().is_dir() => {
                return Err(FolderError::NotAFolder(folder.to_owned()));
            }
            Ok(entry) if entry.depth() == 0 => {}
            Ok(entry) => {
                let is_entered = scan.visit(folder, &entry, now);
                if entry.file_type().is_dir() && !is_entered {
                    entries.skip_current_dir();
                }
            }
            Err(error) if error.depth() == 0 => return Err(FolderError::of(folder, error)),
            Err(error) => scan.fail(folder, &error),
        }
    }
    scan.documents.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    scan.skipped.sort_unstable();
    Ok(scan)
}

impl FolderError {
    fn of(folder: &Path, error: walkdir::Error) -> Self {
        let (folder, error) = (folder.to_owned(), io::Error::from(error));
        if error.kind() == io::ErrorKind::NotFound { Self::Missing(folder) } else { Self::Unreadable(folder, error) }
    }
}

impl Scan {
    /// Takes an entry below `folder`. Returns true if it is a folder to enter.
    fn visit(&mut self, folder: &Path, entry: &DirEntry, now: SystemTime) -> bool {
        let path = relative(folder, entry.path());
        match entry.file_name().to_str() {
            None => self.skip(path, SkipReason::NameNotUtf8),
            Some(name) if name.starts_with('.') => {}
            Some(_) if entry.file_type().is_dir() => return true,
            Some(name) => match entry.metadata() {
                Ok(metadata) => self.file(path, name, &metadata, now),
                Err(error) => self.fail(folder, &error),
            },
        }
        false
    }

    fn file(&mut self, path: String, name: &str, metadata: &Metadata, now: SystemTime) {
        let reason = match Kind::of(name) {
            _ if !metadata.is_file() => SkipReason::NotAFile,
            None => SkipReason::UnknownKind,
            Some(_) if metadata.len() > MAX_FILE_BYTES => SkipReason::TooLarge,
            Some(kind) => {
                let stamp = Stamp::of(metadata);
                let settled = stamp.is_settled(now);
                self.documents.push(DocumentFile { path, kind, stamp, settled });
                return;
            }
        };
        self.skip(path, reason);
    }

    /// Takes an entry below `folder` that cannot be followed, listed or read.
    fn fail(&mut self, folder: &Path, error: &walkdir::Error) {
        let Some(path) = error.path() else {
            // Errors of a link to a folder that may not be opened, and of a listing that breaks off, tell no path.
            return self.skip("(unknown)".to_owned(), SkipReason::Unreadable);
        };
        if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) {
            return;
        }
        let is_missing = error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound);
        let reason = if error.loop_ancestor().is_some() {
            SkipReason::Loop
        } else if is_missing && !path.is_symlink() {
            // It has gone since it was listed.
            return;
        } else if is_missing {
            SkipReason::NotAFile
        } else {
            SkipReason::Unreadable
        };
        self.skip(relative(folder, path), reason);
    }

    fn skip(&mut self, path: String, reason: SkipReason) {
        self.skipped.push(Skipped { path, reason });
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.len(),
            modified_ns: nanos(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: nanos(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    /// True if the stamp is old enough, or far in the future: files stamped by a wrong clock must not be read again
    /// for ever.
    fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let newest = i128::from(self.modified_ns.max(self.changed_ns));
        let age = i128::try_from(now).unwrap_or(i128::MAX).abs_diff(newest);
        age > SETTLES_AFTER.as_nanos()
    }
}

fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// Path below `folder`. Bytes that are not UTF-8 are replaced.
fn relative(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()
}
