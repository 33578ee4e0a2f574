//! Notice of changes: the kernel's, where it sees every change, and the dates of folders elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;

use super::walk::Stamp;

/// File systems, by the number that statfs(2) gives them, whose every change goes through this machine's kernel. On any other,
/// such as those of a network, other hosts write without a notice.
const LOCAL: [u32; 10] = [
    0x0000_ef53, // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // Btrfs
    0xf2f5_2010, // F2FS
    0x2fc1_2fc1, // ZFS
    0xca45_1a4e, // bcachefs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x794c_7630, // overlay
    0x3153_464a, // JFS
];

/// Watch over the folders that one scan has entered, from before it listed them.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Queue of the kernel's notices; `None` if it gives none.
    notices: Option<OwnedFd>,
    /// Dates of the folders without notices; `None` for a folder that could not be looked at.
    dates: BTreeMap<PathBuf, Option<Stamp>>,
    /// True if a folder's date was so fresh that a later change may not show in it.
    is_fresh: bool,
    /// True once there was news.
    had_news: AtomicBool,
}

impl Watch {
    pub(super) fn new() -> Self {
        let notices = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC);
        if let Err(error) = &notices {
            tracing::debug!(%error, "the system gives no notice of changes to files");
        }
        Self { notices: notices.ok(), ..Self::default() }
    }

    /// Watches a folder that is about to be listed, or a file to which a link leads.
    pub(super) fn add(&mut self, path: &Path, now: SystemTime) {
        if self.has_notices_of(path) || self.dates.contains_key(path) {
            return;
        }
        let date = date(path);
        self.is_fresh |= date.is_none_or(|date| !date.is_settled(now));
        self.dates.insert(path.to_owned(), date);
    }

    /// True if the kernel tells of every change to what is watched.
    pub(super) fn has_notices_of_all(&self) -> bool {
        self.dates.is_empty()
    }

    /// True if something may have changed since the watch began.
    pub(super) fn has_news(&self) -> bool {
        let has_news = self.is_fresh
            || self.had_news.load(Ordering::Relaxed)
            || self.has_notices()
            || self.dates.iter().any(|(path, known)| date(path) != *known);
        self.had_news.store(has_news, Ordering::Relaxed);
        has_news
    }

    fn has_notices(&self) -> bool {
        let Some(notices) = &self.notices else { return false };
        // A notice is as long as the name in it, 255 bytes at most. Which it is does not matter, nor how many there are: the next
        // scan begins with a queue of its own.
        let mut notice = [0_u8; 1024];
        !matches!(rustix::io::read(notices, &mut notice), Err(Errno::AGAIN))
    }

    fn has_notices_of(&self, path: &Path) -> bool {
        let Some(notices) = &self.notices else { return false };
        let is_local = rustix::fs::statfs(path).is_ok_and(|system| LOCAL.contains(&(system.f_type as u32)));
        let kinds = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB
            | WatchFlags::MOVE
            | WatchFlags::MOVE_SELF;
        is_local && inotify::add_watch(notices, path, kinds).is_ok()
    }
}

fn date(path: &Path) -> Option<Stamp> {
    fs::metadata(path).ok().map(|metadata| Stamp::of(&metadata))
}
