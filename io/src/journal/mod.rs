//! The journal: every event and every action of a node, as lines of JSON, from which a failure in the field becomes a test.
//!
//! ```text
//! {"journal":1,"core":"0.1.0","family":"queue"}                 at the head of each file
//! {"start":{"at":…,"wall_ms":…,"config":{…}}}                   a node starts, configured like this
//! {"step":{"at":…,"event":{…},"actions":[…]}}                   an event, and the actions that the node ordered
//! {"continue":{"at":…,"wall_ms":…,"steps":…}}                   the file before was full
//! {"gap":{"at":…,"wall_ms":…,"missing":…}}                      steps are missing here
//! ```
//!
//! A replay needs the start and every step since. So a full file is compressed, to about a twentieth, and a node's files are
//! kept from its start for as long as they fit in [`JournalLimits::files`]. A leader with a session of ten seconds fills one
//! in half a day.
//!
//! Recording never makes the node wait: lines go through a bounded queue to a thread of their own. Lines that do not fit in
//! the queue are left out and counted, and a gap says how many are missing. A write that fails is tried again until it succeeds.

mod file;
mod read;
mod record;
mod replay;
#[cfg(test)]
mod tests;

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use rolecall_core::{Action, Event, Node, Time};
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

pub use read::{JournalError, Place, Records, read};
pub use record::{Configuration, Header, Record, VERSION};
pub use replay::{ReplayError, Replayed, Stopped, replay};

/// Bounds of a journal's size.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalLimits {
    /// Size in bytes at which a file is followed by a new one, and compressed. Default: 32 MiB.
    pub file_bytes: u64,
    /// Number of files kept; the oldest go. Default: 256, which take about 500 MiB.
    pub files: usize,
    /// Number of lines that may wait for the disk. Default: 65,536.
    pub queue: usize,
}

impl Default for JournalLimits {
    fn default() -> Self {
        Self { file_bytes: 32 * 1024 * 1024, files: 256, queue: 65_536 }
    }
}

impl JournalLimits {
    /// Begins a new file at this size, in bytes.
    #[must_use]
    pub const fn file_bytes(mut self, bytes: u64) -> Self {
        self.file_bytes = bytes;
        self
    }

    /// Keeps this number of files.
    #[must_use]
    pub const fn files(mut self, files: usize) -> Self {
        self.files = files;
        self
    }

    /// Lets this number of lines wait for the disk.
    #[must_use]
    pub const fn queue(mut self, lines: usize) -> Self {
        self.queue = lines;
        self
    }
}

/// Entry that waits for the writer. Every text ends with a line feed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The first lines of a new file.
    File(String),
    Line(String),
}

/// Counts that the writer shares with its journal.
#[derive(Debug, Default)]
struct Report {
    failures: AtomicU64,
    lost: AtomicU64,
}

/// The recording end, in the driver.
#[derive(Debug)]
pub struct Journal {
    queue: mpsc::Sender<Entry>,
    ended: Option<oneshot::Receiver<()>>,
    report: Arc<Report>,
    limits: JournalLimits,
    /// Bytes in the present file.
    bytes: u64,
    following: Following,
    /// Steps since the node's start, those that are missing included.
    steps: u64,
    /// Steps that were left out for want of room.
    unqueued: u64,
}

/// State of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Following {
    /// Nothing is recorded yet.
    NotYet,
    /// Every step is, since the start or the last gap.
    Yes,
    /// Steps are missing.
    Lost,
}

/// Time that the last lines get when the node ends.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

impl Journal {
    /// Records in files in `folder`, which is created if it is missing.
    ///
    /// # Errors
    /// If the folder cannot be created or is not a folder.
    pub fn in_folder(folder: &Path, limits: JournalLimits) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let (journal, entries) = Self::new(limits);
        let (end, ended) = oneshot::channel();
        let writer = file::Writer::new(folder, journal.limits.files, Arc::clone(&journal.report));
        std::thread::Builder::new().name("journal".into()).spawn(move || {
            writer.run(entries);
            drop(end);
        })?;
        Ok(Self { ended: Some(ended), ..journal })
    }

    fn new(limits: JournalLimits) -> (Self, mpsc::Receiver<Entry>) {
        let (queue, entries) = mpsc::channel(limits.queue.max(1));
        let journal = Self {
            queue,
            ended: None,
            report: Arc::default(),
            limits,
            bytes: 0,
            following: Following::NotYet,
            steps: 0,
            unqueued: 0,
        };
        (journal, entries)
    }

    /// Begins a file before a step, if one is due.
    pub(crate) fn before(&mut self, now: Time, wall: SystemTime, node: &Node) {
        let since_epoch = wall.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let wall_ms = u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX);
        let first = match self.following {
            Following::NotYet => Record::Start { at: now, wall_ms, config: node.config().into() },
            Following::Yes if self.bytes < self.limits.file_bytes => return,
            Following::Yes => Record::Continue { at: now, wall_ms, steps: self.steps },
            Following::Lost => Record::Gap { at: now, wall_ms, missing: self.dropped() },
        };
        if self.queue.capacity() == 0 {
            return;
        }
        let text = line(&Header::new(node.config().election)) + &line(&first);
        self.bytes = length(&text);
        if self.queue.try_send(Entry::File(text)).is_ok() {
            self.following = Following::Yes;
        }
    }

    /// Records the event of a step and the actions that the node ordered.
    pub(crate) fn step(&mut self, now: Time, event: &Event, actions: &[Action]) {
        self.steps += 1;
        if self.following == Following::Yes {
            let text = line(&record::StepLine::Step { at: now, event, actions });
            self.bytes += length(&text);
            if self.queue.try_send(Entry::Line(text)).is_ok() {
                return;
            }
            self.following = Following::Lost;
        }
        self.unqueued += 1;
    }

    /// Number of lines that are missing so far.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.unqueued + self.report.lost.load(Ordering::Acquire)
    }

    /// Number of times that writing has failed so far.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.report.failures.load(Ordering::Acquire)
    }

    /// Waits for at most five seconds until everything recorded is on the disk.
    pub(crate) async fn close(self) {
        drop(self.queue);
        if let Some(ended) = self.ended
            && tokio::time::timeout(CLOSE_LIMIT, ended).await.is_err()
        {
            tracing::warn!("the last lines of the journal could not be written in time");
        }
    }
}

fn line(line: &impl Serialize) -> String {
    let mut text = serde_json::to_string(line).expect("every event, action and state has a form in JSON");
    text.push('\n');
    text
}

fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}
