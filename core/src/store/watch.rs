//! Watches: their targets, and the changes that fire them.

use alloc::vec::Vec;

use super::tree::{Author, Tree};
use super::{Answer, DirectoryRequest, LeaseRequest, Notice, QueueRequest, Request, WishRequest};
use crate::{Candidate, Directory, MemberKey, OpId, Slot};

/// Target of a watch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub(super) enum Target {
    Candidate(Candidate),
    Entry(Directory, MemberKey),
    Directory(Directory),
    /// The lease: it fires when the lease is given up.
    Lease,
    /// The wish, which can be watched before it exists.
    Wish,
}

impl Target {
    /// Notice of a watch that was set on `self` at revision `since`, if it fires in `tree`.
    pub(super) fn news(&self, since: u64, tree: &Tree) -> Option<Notice> {
        let written = match self {
            Self::Candidate(candidate) => tree.queue.find(candidate).map(|contender| contender.written),
            Self::Entry(directory, key) => tree.directory(*directory).find(key).map(|entry| entry.written),
            Self::Directory(directory) => Some(tree.directory(*directory).changed),
            Self::Lease => Some(tree.given_up),
            Self::Wish => return tree.wish.news(since),
        };
        match written {
            None => Some(Notice::Deleted),
            Some(revision) => (revision > since).then_some(Notice::Changed),
        }
    }

    /// Target of the watch that `request` sets, given its answer.
    fn of(author: &Author, request: &Request, answer: &Answer) -> Option<Self> {
        match answer {
            Answer::Done(_) => {}
            Answer::Refused(_) | Answer::Unknown => return None,
        }
        match request {
            Request::Queue(request) => Self::of_queue(request),
            Request::Directory(request) => Self::of_directory(author, request),
            Request::Lease(LeaseRequest::Peek { watch: true }) => Some(Self::Lease),
            Request::Wish(WishRequest::Read { watch: true }) => Some(Self::Wish),
            Request::Sync | Request::Lease(_) | Request::Term(_) | Request::Settings(_) | Request::Wish(_) => None,
        }
    }

    fn of_queue(request: &QueueRequest) -> Option<Self> {
        match request {
            QueueRequest::Inspect { candidate, watch } => watch.then_some(Self::Candidate(*candidate)),
            QueueRequest::Enter { .. }
            | QueueRequest::List
            | QueueRequest::Delete { .. }
            | QueueRequest::Claim { .. }
            | QueueRequest::Beat { .. } => None,
        }
    }

    fn of_directory(author: &Author, request: &DirectoryRequest) -> Option<Self> {
        match request {
            DirectoryRequest::Verify { directory, session } => {
                Some(Self::Entry(*directory, MemberKey { id: author.client.id.clone(), session: *session }))
            }
            DirectoryRequest::Members { directory, watch } => watch.then_some(Self::Directory(*directory)),
            DirectoryRequest::Join { .. } | DirectoryRequest::Leave { .. } => None,
        }
    }
}

/// One watch, and the request that set it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Watch {
    pub(super) target: Target,
    pub(super) id: OpId,
}

/// The watches of one session, ordered by target and slot, with one watch for each such pair.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub(super) struct Watches(pub(super) Vec<Watch>);

impl Watches {
    /// Sets the watch that `request` asks for, given its answer. It replaces an equal one.
    pub(super) fn arm(&mut self, author: &Author, id: OpId, request: &Request, answer: &Answer) {
        let Some(target) = Target::of(author, request, answer) else { return };
        match self.position(&target, id.slot) {
            Ok(at) => self.0[at].id = id,
            Err(at) => self.0.insert(at, Watch { target, id }),
        }
    }

    /// Removes the watches that fire in `tree`, which the client last saw at revision `since`.
    pub(super) fn fire(&mut self, since: u64, tree: &Tree, mut tell: impl FnMut(OpId, Notice)) {
        self.0.retain(|watch| match watch.target.news(since, tree) {
            Some(notice) => {
                tell(watch.id, notice);
                false
            }
            None => true,
        });
    }

    fn position(&self, target: &Target, slot: Slot) -> Result<usize, usize> {
        self.0.binary_search_by(|watch| watch.target.cmp(target).then(watch.id.slot.cmp(&slot)))
    }
}
