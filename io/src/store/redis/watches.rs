//! Watches: who is told when something is published.

use rolecall_core::store::{DirectoryRequest, LeaseRequest, Notice, Request, WishRequest};
use rolecall_core::{Directory, OpId, Session};

use super::layout::directory_name;

/// Something that can be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// The lease, until it is released.
    Lease,
    /// A directory's entries.
    Directory(Directory),
    /// One entry.
    Entry(Directory, Session),
    /// The wish of an operator.
    Wish,
}

/// Watches that are set. Each fires once.
///
/// A watch is set when its request is sent: a change that is published after the request was carried out may be told
/// before its answer. So one may fire for a change before the reading, which does no harm.
#[derive(Debug, Default)]
pub(super) struct Watches(Vec<(OpId, Target)>);

impl Watches {
    /// Sets the watch that a request asks for. The newest of a slot on a target replaces the one before.
    pub(super) fn set(&mut self, id: OpId, request: &Request) {
        if let Some(target) = Target::of(request) {
            self.0.retain(|(other, watched)| other.slot != id.slot || *watched != target);
            self.0.push((id, target));
        }
    }

    /// Removes a watch whose request was not done.
    pub(super) fn unset(&mut self, id: OpId) {
        self.0.retain(|(other, _)| *other != id);
    }

    /// Watches that a published change fires.
    pub(super) fn fire(&mut self, change: &str) -> Vec<(OpId, Notice)> {
        let mut fired = Vec::new();
        self.0.retain(|(id, target)| match target.notice(change) {
            Some(notice) => {
                fired.push((*id, notice));
                false
            }
            None => true,
        });
        fired
    }
}

impl Target {
    fn of(request: &Request) -> Option<Self> {
        match request {
            Request::Lease(LeaseRequest::Peek { watch: true }) => Some(Self::Lease),
            Request::Directory(DirectoryRequest::Members { directory, watch: true }) => {
                Some(Self::Directory(*directory))
            }
            Request::Directory(DirectoryRequest::Verify { directory, session }) => {
                Some(Self::Entry(*directory, *session))
            }
            Request::Wish(WishRequest::Read { watch: true }) => Some(Self::Wish),
            Request::Lease(
                LeaseRequest::Peek { watch: false }
                | LeaseRequest::Acquire { .. }
                | LeaseRequest::Renew { .. }
                | LeaseRequest::Release { .. },
            )
            | Request::Directory(
                DirectoryRequest::Members { watch: false, .. }
                | DirectoryRequest::Join { .. }
                | DirectoryRequest::Leave { .. },
            )
            | Request::Sync
            | Request::Queue(_)
            | Request::Term(_)
            | Request::Settings(_)
            | Request::Wish(WishRequest::Read { watch: false } | WishRequest::Write { .. }) => None,
        }
    }

    /// Notice that a published change means for this target. Changes are `released`, `wish`, and `workers` or
    /// `coordinators` with the session whose entry was added or removed.
    fn notice(self, change: &str) -> Option<Notice> {
        let (what, session) = change.split_once(' ').unwrap_or((change, ""));
        match self {
            Self::Lease => (what == "released").then_some(Notice::Deleted),
            Self::Wish => (what == "wish").then_some(Notice::Changed),
            Self::Directory(directory) => (what == directory_name(directory)).then_some(Notice::Changed),
            Self::Entry(directory, Session(owner)) => {
                let is_it = what == directory_name(directory) && session == format!("{owner:016x}");
                is_it.then_some(Notice::Deleted)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Link, Slot};

    use super::*;

    fn id(slot: Slot, sequence: u32) -> OpId {
        OpId { link: Link(1), slot, sequence }
    }

    #[test]
    fn a_watch_fires_once_and_for_its_target_alone() {
        let mut watches = Watches::default();
        let (lease, workers) = (id(Slot::Election, 1), id(Slot::Mirror(Directory::Workers), 2));
        watches.set(lease, &Request::Lease(LeaseRequest::Peek { watch: true }));
        let members = DirectoryRequest::Members { directory: Directory::Workers, watch: true };
        watches.set(workers, &Request::Directory(members));

        assert_eq!(watches.fire("coordinators 00000000000000ff"), []);
        assert_eq!(watches.fire("workers 00000000000000ff"), [(workers, Notice::Changed)]);
        assert_eq!(watches.fire("workers 00000000000000ff"), []);
        assert_eq!(watches.fire("released"), [(lease, Notice::Deleted)]);
    }

    #[test]
    fn the_newest_watch_of_a_slot_replaces_the_one_before_and_a_failed_request_leaves_none() {
        let mut watches = Watches::default();
        let (first, second) = (id(Slot::Election, 1), id(Slot::Election, 2));
        let peek = Request::Lease(LeaseRequest::Peek { watch: true });
        watches.set(first, &peek);
        watches.set(second, &peek);
        assert_eq!(watches.fire("released"), [(second, Notice::Deleted)]);
        watches.set(first, &peek);
        watches.unset(first);
        assert_eq!(watches.fire("released"), []);
    }
}
