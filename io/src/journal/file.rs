//! The writing end: files that follow one another.

use core::sync::atomic::Ordering;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::mpsc;

use super::{Entry, Report};

const EXTENSION: &str = "jsonl";
const PREFIX: &str = "journal-";

/// The journal files in `folder`, oldest first.
pub(super) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let ours = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX));
        if ours && path.extension().is_some_and(|extension| extension == EXTENSION) {
            files.push(path);
        }
    }
    // The names contain the time in a fixed width.
    files.sort();
    Ok(files)
}

#[derive(Debug)]
pub(super) struct Writer {
    folder: PathBuf,
    keep: usize,
    report: Arc<Report>,
    /// The present file, and how long it is without the line that is being written.
    file: Option<(File, PathBuf, u64)>,
}

impl Writer {
    pub(super) fn new(folder: &Path, keep: usize, report: Arc<Report>) -> Self {
        Self { folder: folder.to_owned(), keep: keep.max(1), report, file: None }
    }

    /// Writes until the journal is closed. Each line goes to the system at once, so that a crash of the process loses none.
    pub(super) fn run(mut self, mut entries: mpsc::Receiver<Entry>) {
        while let Some(entry) = entries.blocking_recv() {
            self.write(&entry);
        }
        if let Some((file, path, _)) = self.file
            && let Err(error) = file.sync_all()
        {
            tracing::warn!(path = %path.display(), %error, "the end of the journal may be missing after a power loss");
        }
    }

    fn write(&mut self, entry: &Entry) {
        let written = match entry {
            Entry::File(text) => self.begin().and_then(|()| self.append(text)),
            // After a failure there is no file until the journal begins one.
            Entry::Line(_) if self.file.is_none() => Err(io::ErrorKind::NotFound.into()),
            Entry::Line(text) => self.append(text),
        };
        let Err(error) = written else { return };
        self.report.lost.fetch_add(u64::from(matches!(entry, Entry::Line(_))), Ordering::AcqRel);
        if self.file.is_some() || matches!(entry, Entry::File(_)) {
            tracing::warn!(folder = %self.folder.display(), %error, "the journal can't be written; the node goes on without it");
            self.give_up();
            self.report.failures.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        self.file = None;
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
        let Some((file, _, length)) = &mut self.file else { return Err(io::ErrorKind::NotFound.into()) };
        file.write_all(text.as_bytes())?;
        *length += u64::try_from(text.len()).unwrap_or(u64::MAX);
        Ok(())
    }

    /// Takes a line back that is there in part, and a file without lines.
    fn give_up(&mut self) {
        let Some((file, path, length)) = self.file.take() else { return };
        let undone = if length == 0 { fs::remove_file(&path) } else { file.set_len(length) };
        if let Err(error) = undone {
            tracing::warn!(path = %path.display(), %error, "the last line of this file is there in part");
        }
    }

    fn prune(&self) {
        let Ok(mut files) = files(&self.folder) else { return };
        let spare = files.len().saturating_sub(self.keep);
        for path in files.drain(..spare) {
            if let Err(error) = fs::remove_file(&path) {
                tracing::warn!(path = %path.display(), %error, "an old journal can't be deleted");
            }
        }
    }
}

fn stamp_of(path: &Path) -> Option<u128> {
    path.file_stem()?.to_str()?.strip_prefix(PREFIX)?.parse().ok()
}
