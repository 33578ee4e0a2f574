//! The journal: every event and every action of a node, as lines of JSON, from which a failure in the field becomes a test.
//!
//! ```text
//! {"state":{"at":…,"wall_ms":…,"cause":"start","node":{…}}}       the whole machine, at the head of each file and after a gap
//! {"step":{"at":…,"event":{…},"actions":[…]}}                      what happened, and what was ordered
//! ```
//!
//! Recording never makes the node wait: lines go through a bounded queue to a thread of their own. What does not fit in the
//! queue, or on the disk, is left out and counted, and the next state line says how much is missing.

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
pub use record::{Cause, Record};
pub use replay::{ReplayError, Replayed, replay};

/// How much a journal takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalLimits {
    /// A file that has reached this size, in bytes, is followed by a new one.
    pub file_bytes: u64,
    /// Files kept; the oldest go.
    pub files: usize,
    /// Lines that may wait for the disk.
    pub queue: usize,
}

impl Default for JournalLimits {
    fn default() -> Self {
        Self { file_bytes: 32 * 1024 * 1024, files: 16, queue: 4096 }
    }
}

/// What waits for the writer. Every text ends with a line feed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A state line that begins a new file.
    File(String),
    Line(String),
}

/// What the writer tells its journal, whenever that looks.
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
    /// Steps that were left out for want of room.
    unqueued: u64,
    failures: u64,
}

/// Whether the lines so far lead to the node's present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Following {
    NotYet,
    Yes,
    /// Steps are missing; tried again at this time.
    Lost(Time),
}

/// How long a writer that failed is left alone: a disk that is full is not emptied by asking.
const RETRY: Duration = Duration::from_secs(1);
/// How long the last lines may take when the node ends.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

impl Journal {
    /// Records in files in `folder`, which is created if it is missing.
    ///
    /// # Errors
    /// The folder can't be created or is not one.
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
            unqueued: 0,
            failures: 0,
        };
        (journal, entries)
    }

    /// Before a step: records the whole state where that is due.
    pub(crate) fn before(&mut self, now: Time, wall: SystemTime, node: &Node) {
        let failures = self.failures();
        if failures != self.failures {
            self.failures = failures;
            self.following = Following::Lost(now + RETRY);
        }
        let cause = match self.following {
            Following::NotYet => Cause::Start,
            Following::Yes if self.bytes < self.limits.file_bytes => return,
            Following::Yes => Cause::Rotation,
            Following::Lost(retry) if now < retry => return,
            Following::Lost(_) => Cause::Gap { dropped: self.dropped() },
        };
        if self.queue.capacity() == 0 {
            return;
        }
        let since_epoch = wall.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let wall_ms = u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX);
        let text = line(&record::Line::State { at: now, wall_ms, cause, node });
        self.bytes = length(&text);
        if self.queue.try_send(Entry::File(text)).is_ok() {
            self.following = Following::Yes;
        }
    }

    /// After a step: records what happened and what was ordered.
    pub(crate) fn step(&mut self, now: Time, event: &Event, actions: &[Action]) {
        if self.following == Following::Yes {
            let text = line(&record::Line::Step { at: now, event, actions });
            self.bytes += length(&text);
            if self.queue.try_send(Entry::Line(text)).is_ok() {
                return;
            }
            self.following = Following::Lost(now);
        }
        self.unqueued += 1;
    }

    /// How many lines are missing so far.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.unqueued + self.report.lost.load(Ordering::Acquire)
    }

    /// How often writing failed so far.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.report.failures.load(Ordering::Acquire)
    }

    /// Waits until what was recorded is on the disk, five seconds at most.
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
