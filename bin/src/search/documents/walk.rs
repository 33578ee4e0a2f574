//! Finds the files of the documents folder from names and stamps alone, without opening a file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry, Metadata};
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
    /// Numbers of symbolic links.
    pub links: Links,
}

/// Numbers of symbolic links in the documents folder, of those that are not simply other names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Links {
    /// Links that lead out of the documents folder. They are followed.
    pub out: u64,
    /// Links to folders that contain the link. They are not followed.
    pub loops: u64,
    /// Links, and files and folders, that are found under a shorter path already.
    pub again: u64,
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
/// Links are followed, and every file is found once, under its shortest path: that of the fewest folders, then that of the fewest
/// links, then that of the fewest letters. Names that begin with a dot are ignored. `now` is the wall-clock time.
///
/// # Errors
/// If the folder itself is missing, not a folder or unreadable. Anything wrong inside the folder is skipped.
pub fn scan(folder: &Path, now: SystemTime) -> Result<Scan, FolderError> {
    scan_with(folder, now, &mut |_| {})
}

/// Does the same, and calls `watch` with each folder right before it is listed, and with each file to which a link leads before its
/// stamp is taken.
pub(super) fn scan_with(folder: &Path, now: SystemTime, watch: &mut dyn FnMut(&Path)) -> Result<Scan, FolderError> {
    let unusable = |error| FolderError::of(folder, error);
    let root = folder.canonicalize().map_err(unusable)?;
    if !root.is_dir() {
        return Err(FolderError::NotAFolder(folder.to_owned()));
    }
    fs::read_dir(&root).map_err(unusable)?;
    let mut walk = Walk { root: &root, now, watch, scan: Scan::default(), folders: Vec::new(), linked: Vec::new() };
    // Level by level, so that the first path to a folder is a shortest one.
    let mut level = vec![Folder { path: String::new(), links: 0, real: root.clone() }];
    let mut entered = BTreeSet::from([root.clone()]);
    while !level.is_empty() {
        let mut below: Vec<_> = level.into_iter().flat_map(|folder| walk.enter(folder)).collect();
        below.sort_by(|one, other| rank(&one.path, one.links).cmp(&rank(&other.path, other.links)));
        level = Vec::new();
        for folder in below {
            if entered.contains(&folder.real) {
                walk.scan.skip(folder.path, SkipReason::SeenElsewhere);
            } else {
                entered.insert(folder.real.clone());
                level.push(folder);
            }
        }
    }
    Ok(walk.finish())
}

impl FolderError {
    fn of(folder: &Path, error: io::Error) -> Self {
        let folder = folder.to_owned();
        if error.kind() == io::ErrorKind::NotFound { Self::Missing(folder) } else { Self::Unreadable(folder, error) }
    }
}

/// Order of the paths to one file: the first is the one under which it is found.
fn rank(path: &str, links: u32) -> (usize, u32, usize, &str) {
    (path.matches('/').count(), links, path.len(), path)
}

struct Walk<'a> {
    root: &'a Path,
    now: SystemTime,
    watch: &'a mut dyn FnMut(&Path),
    scan: Scan,
    /// Folders that were entered, each with the number of documents in it, in the order of the documents.
    folders: Vec<(Folder, usize)>,
    /// Documents that are links, with the files to which they lead.
    linked: Vec<(DocumentFile, u32, PathBuf)>,
}

/// Folder below the documents folder.
struct Folder {
    /// Path by which it was found.
    path: String,
    /// Number of links in the path.
    links: u32,
    /// Path without links.
    real: PathBuf,
}

impl Folder {
    fn join(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }
}

impl Walk<'_> {
    /// Takes everything in `folder` and returns the folders in it.
    fn enter(&mut self, folder: Folder) -> Vec<Folder> {
        let mut below = Vec::new();
        let before = self.scan.documents.len();
        (self.watch)(&folder.real);
        match fs::read_dir(&folder.real) {
            Ok(entries) => {
                for entry in entries {
                    match entry {
                        Ok(entry) => below.extend(self.visit(&folder, &entry)),
                        Err(_) => self.scan.skip(folder.path.clone(), SkipReason::Unreadable),
                    }
                }
            }
            // It has gone since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => self.scan.skip(folder.path.clone(), SkipReason::Unreadable),
        }
        let documents = self.scan.documents.len() - before;
        self.folders.push((folder, documents));
        below
    }

    /// Takes one entry of `folder` and returns it if it is a folder.
    fn visit(&mut self, folder: &Folder, entry: &DirEntry) -> Option<Folder> {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            return None;
        }
        let path = folder.join(&name.to_string_lossy());
        let Some(name) = name.to_str() else {
            self.scan.skip(path, SkipReason::NameNotUtf8);
            return None;
        };
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let place = folder.real.join(name);
        let found = if is_link {
            place.canonicalize().and_then(|real| {
                (self.watch)(&real);
                fs::metadata(&real).map(|metadata| (real, metadata))
            })
        } else {
            entry.metadata().map(|metadata| (place, metadata))
        };
        let (real, metadata) = match found {
            Ok(found) => found,
            // A file that has gone since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link => return None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.scan.skip(path, SkipReason::NotAFile);
                return None;
            }
            Err(_) => {
                self.scan.skip(path, SkipReason::Unreadable);
                return None;
            }
        };
        let links = folder.links + u32::from(is_link);
        if is_link && metadata.is_dir() && folder.real.starts_with(&real) {
            self.scan.skip(path, SkipReason::Loop);
            return None;
        }
        if is_link && !real.starts_with(self.root) {
            self.scan.links.out += 1;
        }
        if metadata.is_dir() {
            return Some(Folder { path, links, real });
        }
        match (document(path, name, &metadata, self.now), is_link) {
            (Ok(document), false) => self.scan.documents.push(document),
            (Ok(document), true) => self.linked.push((document, links, real)),
            (Err(skipped), _) => self.scan.skipped.push(skipped),
        }
        None
    }

    fn finish(mut self) -> Scan {
        if !self.linked.is_empty() {
            self.choose_paths();
        }
        let Self { mut scan, .. } = self;
        scan.documents.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        scan.skipped.sort_unstable();
        scan
    }

    /// Keeps the best path to each file to which links lead.
    fn choose_paths(&mut self) {
        let mut best: BTreeMap<PathBuf, (DocumentFile, u32)> = BTreeMap::new();
        let linked = core::mem::take(&mut self.linked);
        let targets: BTreeSet<PathBuf> = linked.iter().map(|(_, _, real)| real.clone()).collect();
        let mut offers = linked;
        let mut documents = core::mem::take(&mut self.scan.documents).into_iter();
        for (folder, count) in &self.folders {
            for document in documents.by_ref().take(*count) {
                let name = document.path.rsplit('/').next().unwrap_or(&document.path);
                let real = folder.real.join(name);
                if targets.contains(&real) {
                    offers.push((document, folder.links, real));
                } else {
                    self.scan.documents.push(document);
                }
            }
        }
        for (document, links, real) in offers {
            let worse = match best.remove(&real) {
                None => {
                    best.insert(real, (document, links));
                    continue;
                }
                Some(known) if rank(&known.0.path, known.1) <= rank(&document.path, links) => {
                    best.insert(real, known);
                    document
                }
                Some((known, _)) => {
                    best.insert(real, (document, links));
                    known
                }
            };
            self.scan.skip(worse.path, SkipReason::SeenElsewhere);
        }
        self.scan.documents.extend(best.into_values().map(|(document, _)| document));
    }
}

/// The file at `path` as a document, or the reason why it is none.
fn document(path: String, name: &str, metadata: &Metadata, now: SystemTime) -> Result<DocumentFile, Skipped> {
    let reason = match Kind::of(name) {
        _ if !metadata.is_file() => SkipReason::NotAFile,
        None => SkipReason::UnknownKind,
        Some(_) if metadata.len() > MAX_FILE_BYTES => SkipReason::TooLarge,
        Some(kind) => {
            let stamp = Stamp::of(metadata);
            return Ok(DocumentFile { path, kind, stamp, settled: stamp.is_settled(now) });
        }
    };
    Err(Skipped { path, reason })
}

impl Scan {
    fn skip(&mut self, path: String, reason: SkipReason) {
        match reason {
            SkipReason::Loop => self.links.loops += 1,
            SkipReason::SeenElsewhere => self.links.again += 1,
            SkipReason::UnknownKind
            | SkipReason::TooLarge
            | SkipReason::Binary
            | SkipReason::UnknownEncoding
            | SkipReason::NameNotUtf8
            | SkipReason::Unreadable
            | SkipReason::NotAFile
            | SkipReason::Unparsable => {}
        }
        self.skipped.push(Skipped { path, reason });
    }
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.len(),
            modified_ns: nanos(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: nanos(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    /// True if the stamp is old enough, or far in the future: files stamped by a wrong clock must not be read again
    /// for ever.
    pub(super) fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let newest = i128::from(self.modified_ns.max(self.changed_ns));
        let age = i128::try_from(now).unwrap_or(i128::MAX).abs_diff(newest);
        age > SETTLES_AFTER.as_nanos()
    }
}

fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}
