//! Finds the files of the documents folder, by their names and stamps alone: nothing is opened.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::read::MAX_FILE_BYTES;
use super::skip::{SkipReason, Skipped};

/// A file that may be a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFile {
    /// Its path, relative to the documents folder and written with `/`.
    pub path: String,
    /// Its kind.
    pub kind: Kind,
    /// Tells whether it changed.
    pub stamp: Stamp,
    /// Whether its stamp is old enough to be trusted: a file written twice within a tick of the file system's clock
    /// keeps its stamp, so a fresh one is looked at again.
    pub settled: bool,
}

/// What changes when a file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Its size in bytes.
    pub size: u64,
    /// When its content was last written, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// When its content or metadata was last written: it moves even if a copy keeps the time of its source.
    pub changed_ns: i64,
    /// Its inode: another file under the same name.
    pub inode: u64,
}

/// What the documents folder holds.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// The files that may be documents, ordered by path.
    pub documents: Vec<DocumentFile>,
    /// The others, ordered by path.
    pub skipped: Vec<Skipped>,
}

/// A documents folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// There is nothing at the path.
    #[error("the documents folder {0:?} does not exist")]
    Missing(PathBuf),
    /// What is at the path is no folder.
    #[error("{0:?} is not a folder: the documents must be in one")]
    NotAFolder(PathBuf),
    /// The folder cannot be listed.
    #[error("the documents folder {0:?} cannot be read: {1}")]
    Unreadable(PathBuf, io::Error),
}

/// How long a stamp must have stood to be trusted: more than the coarsest tick of a file system in use (FAT's, 2 s).
const SETTLES_AFTER: Duration = Duration::from_secs(3);

/// Walks `folder`.
///
/// Links are followed, but not to a folder that the link lies in. Names that begin with a dot are left out: they are not
/// documents. `now` is the time of day.
///
/// # Errors
/// If the folder itself is missing, not a folder or unreadable; what is wrong inside of it is skipped.
pub fn scan(folder: &Path, now: SystemTime) -> Result<Scan, FolderError> {
    let metadata = fs::metadata(folder).map_err(|error| {
        let folder = folder.to_owned();
        if error.kind() == io::ErrorKind::NotFound {
            FolderError::Missing(folder)
        } else {
            FolderError::Unreadable(folder, error)
        }
    })?;
    if !metadata.is_dir() {
        return Err(FolderError::NotAFolder(folder.to_owned()));
    }
    let mut walk = Walk { now, found: Scan::default(), open: Vec::new() };
    let root = Folder { path: folder.to_owned(), relative: String::new(), ancestors: vec![identity(&metadata)] };
    walk.list(&root).map_err(|error| FolderError::Unreadable(folder.to_owned(), error))?;
    while let Some(folder) = walk.open.pop() {
        if walk.list(&folder).is_err() {
            walk.skip(folder.relative, SkipReason::Unreadable);
        }
    }
    let Walk { mut found, .. } = walk;
    found.documents.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    found.skipped.sort_unstable();
    Ok(found)
}

struct Walk {
    now: SystemTime,
    found: Scan,
    /// Folders that are still to be listed: a list and not a recursion, so that depth costs no stack.
    open: Vec<Folder>,
}

struct Folder {
    path: PathBuf,
    relative: String,
    /// The folders that it lies in and itself, as device and inode.
    ancestors: Vec<(u64, u64)>,
}

impl Walk {
    fn list(&mut self, folder: &Folder) -> io::Result<()> {
        for entry in fs::read_dir(&folder.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                self.skip(join(&folder.relative, &name.to_string_lossy()), SkipReason::NameNotUtf8);
                continue;
            };
            if !name.starts_with('.') {
                self.visit(folder, entry.path(), name);
            }
        }
        Ok(())
    }

    fn visit(&mut self, folder: &Folder, path: PathBuf, name: &str) {
        let relative = join(&folder.relative, name);
        let metadata = match fs::metadata(&path) {
            Ok(metadata) => metadata,
            // Gone since it was listed, or a link to nothing.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if fs::symlink_metadata(&path).is_ok() {
                    self.skip(relative, SkipReason::NotAFile);
                }
                return;
            }
            Err(_) => return self.skip(relative, SkipReason::Unreadable),
        };
        if metadata.is_dir() {
            let identity = identity(&metadata);
            if folder.ancestors.contains(&identity) {
                return self.skip(relative, SkipReason::Loop);
            }
            let mut ancestors = folder.ancestors.clone();
            ancestors.push(identity);
            self.open.push(Folder { path, relative, ancestors });
        } else {
            self.file(relative, name, &metadata);
        }
    }

    fn file(&mut self, path: String, name: &str, metadata: &Metadata) {
        let reason = match Kind::of(name) {
            _ if !metadata.is_file() => SkipReason::NotAFile,
            None => SkipReason::UnknownKind,
            Some(_) if metadata.len() > MAX_FILE_BYTES => SkipReason::TooLarge,
            Some(kind) => {
                let stamp = Stamp::of(metadata);
                let settled = stamp.is_settled(self.now);
                self.found.documents.push(DocumentFile { path, kind, stamp, settled });
                return;
            }
        };
        self.skip(path, reason);
    }

    fn skip(&mut self, path: String, reason: SkipReason) {
        self.found.skipped.push(Skipped { path, reason });
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

    /// A stamp far in the future is trusted too: a clock that is wrong must not have its files read for ever.
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

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
