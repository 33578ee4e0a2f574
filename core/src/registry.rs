//! The mirror of a directory: snapshots in, differences out.

use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::mutant::Mutant;
use crate::pass::{Backoff, Pass, Pending, Soonest};
use crate::rename::{Rename, Renamer};
use crate::store::{Answer, DirectoryReply, DirectoryRequest, Reply, Request};
use crate::{Action, Announcement, Difference, Directory, Member, MemberKey, OpId, Sink, Slot, Snapshot, Time};

/// Degrees to which a directory is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Interest {
    /// Not at all.
    None,
    /// One reading on each connection, and others on demand.
    Read,
    /// A reading on every change.
    Watch,
}

/// Mirror of a directory. Stale from the loss of the store until the first fresh reading after it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Registry {
    directory: Directory,
    snapshot: Snapshot,
    /// True if it was read on this connection.
    current: bool,
    /// True if it was read since it last changed, as far as is known.
    fresh: bool,
    watch: Option<OpId>,
    /// The pending reading; its kind says whether it sets a watch.
    pending: Option<Pending<bool>>,
    backoff: Backoff,
}

impl Registry {
    pub(crate) fn new(directory: Directory) -> Self {
        Self {
            directory,
            snapshot: Snapshot::default(),
            current: false,
            fresh: false,
            watch: None,
            pending: None,
            backoff: Backoff::default(),
        }
    }

    pub(crate) fn members(&self) -> &[Member] {
        &self.snapshot.members
    }

    /// Number of unreadable entries in the last reading.
    pub(crate) fn skipped(&self) -> u32 {
        self.snapshot.skipped
    }

    /// True if the last reading was on this connection. Until then nothing in it may be believed (FLINK-19557).
    pub(crate) fn is_current(&self) -> bool {
        self.current
    }

    /// True if the last reading was on this connection and nothing has changed since, as far as is known.
    pub(crate) fn is_fresh(&self) -> bool {
        self.fresh
    }

    pub(crate) fn suspend(&mut self) {
        self.pending = None;
        self.backoff.clear();
        if Mutant::RegistryNotReread.lives() {
            return;
        }
        self.current = false;
        self.fresh = false;
        self.watch = None;
    }

    /// Rereads the directory although nothing happened.
    pub(crate) fn reread(&mut self) {
        self.fresh = false;
        if let Some(pending) = &mut self.pending {
            pending.dirty = true;
        }
    }

    pub(crate) fn noticed(&mut self, id: OpId) {
        let awaited = self.pending.as_ref().is_some_and(|pending| pending.id == id);
        if awaited || self.watch.take_if(|watch| *watch == id).is_some() {
            self.reread();
        }
    }

    /// Handles an answer. Returns true if the members changed.
    pub(crate) fn answered<S: Sink>(&mut self, now: Time, id: OpId, answer: &Answer, out: &mut S) -> bool {
        let Some(pending) = self.pending.take_if(|pending| pending.id == id) else { return false };
        match answer {
            Answer::Done(Reply::Directory(DirectoryReply::Members(snapshot))) => {
                self.backoff.clear();
                self.current = true;
                self.fresh = !pending.dirty;
                if pending.kind {
                    self.watch = Some(pending.id).filter(|_| !pending.dirty);
                }
                self.replace(snapshot, out)
            }
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => {
                self.backoff.fail(now);
                false
            }
        }
    }

    fn replace<S: Sink>(&mut self, snapshot: &Snapshot, out: &mut S) -> bool {
        let mut snapshot = snapshot.clone();
        snapshot.members.sort_by(|one, other| one.key.cmp(&other.key));
        snapshot.members.dedup_by(|one, other| one.key == other.key);
        let difference = Difference::between(&self.snapshot.members, &snapshot.members);
        self.snapshot = snapshot;
        let changed = !difference.is_empty();
        if changed {
            out.push(Action::Announce(Announcement::Members { directory: self.directory, difference }));
        }
        changed
    }

    pub(crate) fn expire(&mut self, now: Time) {
        self.pending.take_if(|pending| pending.deadline <= now);
        self.backoff.holds(now);
    }

    pub(crate) fn advance<S: Sink>(&mut self, pass: &mut Pass<'_, S>, interest: Interest) {
        if self.pending.is_some() || self.agrees(interest) || self.backoff.holds(pass.now) {
            return;
        }
        let Some(standing) = pass.connected() else { return };
        let watch = interest == Interest::Watch;
        let request = Request::Directory(DirectoryRequest::Members { directory: self.directory, watch });
        self.pending = Some(pass.send(&standing, Slot::Mirror(self.directory), watch, request));
    }

    pub(crate) fn deadlines(&self, connected: bool, soonest: &mut Soonest) {
        soonest.answer(self.pending.as_ref());
        if connected {
            soonest.retry(&self.backoff);
        }
    }

    pub(crate) fn awaits(&self, now: Time, id: OpId) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.awaits(now, id))
    }

    /// True if it waits for this watch.
    pub(crate) fn relies_on(&self, id: OpId) -> bool {
        self.watch == Some(id)
    }

    /// True if nothing is pending or scheduled.
    pub(crate) fn is_quiet(&self) -> bool {
        self.pending.is_none() && self.backoff.deadline().is_none()
    }

    /// True if it follows as closely as wanted, provided that it is quiet.
    pub(crate) fn agrees(&self, interest: Interest) -> bool {
        match interest {
            Interest::None => true,
            Interest::Read => self.fresh,
            Interest::Watch => self.fresh && self.watch.is_some(),
        }
    }
}

impl Difference {
    /// Difference between two lists of members, both ordered by key and without duplicates.
    #[must_use]
    pub fn between(before: &[Member], after: &[Member]) -> Self {
        let mut difference = Self::default();
        let (mut old, mut new) = (before.iter().peekable(), after.iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (Some(old), Some(new)) => old.key.cmp(&new.key),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return difference,
            };
            match order {
                Ordering::Less => difference.left.extend(old.next().map(|member| member.key.clone())),
                Ordering::Greater => difference.joined.extend(new.next().cloned()),
                Ordering::Equal => {
                    let (old, new) = (old.next(), new.next());
                    let is_told = |new: &&Member| Some(*new) != old && !Mutant::ChangeNotAnnounced.lives();
                    difference.changed.extend(new.filter(is_told).cloned());
                }
            }
        }
    }

    /// True if nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.joined.is_empty() && self.left.is_empty() && self.changed.is_empty()
    }

    /// Applies the difference to the list from which it starts.
    pub fn apply(&self, members: &mut Vec<Member>) {
        let gone = |key: &MemberKey| self.left.contains(key) || self.changed.iter().any(|member| member.key == *key);
        members.retain(|member| !gone(&member.key));
        members.extend(self.changed.iter().chain(&self.joined).cloned());
        members.sort_by(|one, other| one.key.cmp(&other.key));
    }
}

impl Rename for Registry {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.snapshot.rename(renamer);
        if let Some(watch) = &mut self.watch {
            renamer.operation(watch);
        }
        self.pending.rename(renamer);
        self.backoff.rename(renamer);
    }
}

/// Kind of a pending reading: true if it sets a watch.
impl Rename for bool {
    fn rename(&mut self, _renamer: &mut dyn Renamer) {}
}
