//! Finds the files of the documents folder from names and stamps alone, without opening a file.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

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
    /// Folders not listed yet. A list instead of recursion, so that depth costs no stack.
    open: Vec<Folder>,
}

struct Folder {
    path: PathBuf,
    relative: String,
    /// This folder and all folders that contain it, as device and inode.
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
            // Either the file has gone since it was listed, or it is a dangling link.
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

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
