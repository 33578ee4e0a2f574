//! Writing end of a journal: files that follow one another.

use core::sync::atomic::Ordering;
use core::time::Duration;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::sync::mpsc;

use super::{Entry, Report};

const EXTENSION: &str = "jsonl";
const COMPRESSED: &str = "jsonl.gz";
const PREFIX: &str = "journal-";
/// Pause after a failure, which is usually a full disk.
const RETRY: Duration = Duration::from_secs(1);

/// True for a file that was full and is compressed.
pub(super) fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

/// Journal files in `folder`, oldest first.
pub(super) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let ours = name.strip_prefix(PREFIX).and_then(|name| name.split_once('.'));
        if ours.is_some_and(|(_, extension)| extension == EXTENSION || extension == COMPRESSED) {
            files.push(path);
        }
    }
    // The names contain the time in a fixed width.
    files.sort();
    // A crash at the end of the compression leaves both forms of a file.
    files.dedup_by_key(|path| stamp_of(path));
    Ok(files)
}

#[derive(Debug)]
pub(super) struct Writer {
    folder: PathBuf,
    keep: usize,
    report: Arc<Report>,
    /// Lock that this process holds while it writes here; `None` if another process holds it.
    lock: Option<File>,
    /// Present file, and its length without the line that is being written.
    file: Option<(File, PathBuf, u64)>,
}

impl Writer {
    pub(super) fn new(folder: &Path, keep: usize, report: Arc<Report>) -> Self {
        Self { folder: folder.to_owned(), keep: keep.max(1), report, lock: None, file: None }
    }

    /// Writes until the journal is closed. Each line goes to the system at once, so that a crash of the process loses none.
    pub(super) fn run(mut self, mut entries: mpsc::Receiver<Entry>) {
        self.lock = lock(&self.folder);
        if self.lock.is_some() {
            // An earlier process may have ended before these were full.
            let left = files(&self.folder).unwrap_or_default();
            left.iter().filter(|path| !is_compressed(path)).for_each(|path| compress(path));
        }
        while let Some(entry) = entries.blocking_recv() {
            self.write(&entry, &entries);
        }
        if let Some((file, path, _)) = self.file
            && let Err(error) = file.sync_all()
        {
            tracing::warn!(path = %path.display(), %error, "the end of the journal may be missing after a power loss");
        }
    }

    /// Writes an entry, and tries again until the disk takes it or the node ends. The lines behind it wait in the queue.
    fn write(&mut self, entry: &Entry, entries: &mpsc::Receiver<Entry>) {
        let mut is_first = true;
        while let Err(error) = self.try_to_write(entry) {
            if is_first {
                tracing::warn!(folder = %self.folder.display(), %error, "the journal cannot be written; trying again");
                self.report.failures.fetch_add(1, Ordering::AcqRel);
            }
            is_first = false;
            if entries.is_closed() {
                self.report.lost.fetch_add(u64::from(matches!(entry, Entry::Line(_))), Ordering::AcqRel);
                return;
            }
            std::thread::sleep(RETRY);
        }
    }

    fn try_to_write(&mut self, entry: &Entry) -> io::Result<()> {
        let (Entry::File(text) | Entry::Line(text)) = entry;
        if matches!(entry, Entry::File(_)) && self.file.as_ref().is_none_or(|(_, _, length)| *length > 0) {
            self.begin()?;
        }
        self.append(text)
    }

    fn begin(&mut self) -> io::Result<()> {
        if let Some((_, path, _)) = self.file.take() {
            compress(&path);
        }
        let mut stamp = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
        let last = files(&self.folder)?.pop();
        loop {
            let path = self.folder.join(format!("{PREFIX}{stamp:015}.{EXTENSION}"));
            // The time of day may have been set back.
            if last.as_ref().is_some_and(|last| *last >= path) {
                stamp = last.as_ref().and_then(|last| stamp_of(last)).map_or(stamp + 1, |last| last.max(stamp) + 1);
                continue;
            }
            let file = OpenOptions::new().append(true).create_new(true).open(&path)?;
            self.file = Some((file, path, 0));
            break;
        }
        self.prune();
        Ok(())
    }

    fn append(&mut self, text: &str) -> io::Result<()> {
        let Some((file, path, length)) = &mut self.file else { return Err(io::ErrorKind::NotFound.into()) };
        if let Err(error) = file.write_all(text.as_bytes()) {
            // Part of the line may have been written.
            if let Err(error) = file.set_len(*length) {
                tracing::warn!(path = %path.display(), %error, "the last line of this journal may be incomplete");
            }
            return Err(error);
        }
        *length += u64::try_from(text.len()).unwrap_or(u64::MAX);
        Ok(())
    }

    fn prune(&self) {
        let Ok(mut files) = files(&self.folder) else { return };
        let spare = files.len().saturating_sub(self.keep);
        for path in files.drain(..spare) {
            if let Err(error) = fs::remove_file(&path) {
                tracing::warn!(path = %path.display(), %error, "an old journal cannot be deleted");
            }
        }
    }
}

fn stamp_of(path: &Path) -> Option<u128> {
    path.file_name()?.to_str()?.strip_prefix(PREFIX)?.split('.').next()?.parse().ok()
}

fn lock(folder: &Path) -> Option<File> {
    let file = File::create(folder.join(".lock")).ok()?;
    file.try_lock().is_ok().then_some(file)
}

/// Replaces a full file by a compressed one. A crash leaves one of the two whole.
fn compress(path: &Path) {
    let in_place = path.with_extension(COMPRESSED);
    let unfinished = path.with_extension("unfinished");
    let compressed = || -> io::Result<()> {
        let mut encoder = GzEncoder::new(File::create(&unfinished)?, Compression::default());
        io::copy(&mut File::open(path)?, &mut encoder)?;
        encoder.finish()?.sync_all()?;
        fs::rename(&unfinished, &in_place)?;
        fs::remove_file(path)
    };
    if let Err(error) = compressed() {
        tracing::warn!(path = %path.display(), %error, "a full journal file cannot be compressed and stays as it is");
    }
}
