//! The steps of a sequence. Everything is named by its place, not by a store's numbers, so that a sequence means the
//! same in each store.

use rolecall_core::Directory;

/// One of the nodes of a sequence, counted from 0. Its id is a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Node(pub(crate) usize);

impl Node {
    pub(crate) fn id(self) -> &'static str {
        ["a", "b", "c", "d"][self.0]
    }
}

/// A candidate, by its place among all candidates that answers have shown so far, deleted ones included. Places beyond
/// them mean one that never existed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Which(pub(crate) usize);

/// A session of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The latest one.
    Own,
    /// The one before, or one that never existed.
    Former,
}

/// One step. A step that makes no sense as things stand (to mend what is not broken) does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A node sends a request and waits for the answer.
    Ask(Node, Ask),
    /// A node sends several requests before the first is answered.
    Burst(Node, Vec<Ask>),
    /// Another client changes the store's data.
    Operator(Deed),
    /// A node loses its connection, and finds none.
    Break(Node),
    /// A node's connection falls silent: nothing ends it, and nothing gets through, not even on new ones.
    Silence(Node),
    /// The answer to a node's next request is lost, although the store carries it out.
    Deafen(Node),
    /// The timeout of a node's sessions passes while it has no connection. The sessions of others go on.
    Outlast(Node),
    /// A node finds a connection again.
    Mend(Node),
    /// A node loses its connection and comes back at once.
    Flap(Node),
    /// All sessions of a node end in the store.
    Expire(Node),
    /// A node drops its session for another.
    Renew(Node),
    /// A node closes its session.
    Close(Node),
    /// A node crashes; its session lives on.
    Crash(Node),
    /// A node that has closed its session or crashed is started again.
    Open(Node),
    /// The store stops and starts again, with its data.
    Restart,
    /// The store stops and starts again, empty.
    Wipe,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Sync,
    Enter,
    List,
    Inspect(Which),
    Watch(Which),
    Delete(Which),
    /// Overwrites the record of a term, with this incarnation.
    Claim(Which, u64),
    /// Creates the record of a term, with this incarnation.
    FirstClaim(Which, u64),
    Beat(Which),
    ReadTerm,
    Join(Directory, Whose),
    /// Joins with the epoch that was claimed last.
    JoinAsLeader(Directory),
    Leave(Directory, Whose),
    Verify(Directory, Whose),
    Members(Directory),
    WatchMembers(Directory),
    Settle(&'static str),
    ReadWish,
    WatchWish,
    /// Wishes for the first time, with this id.
    Wish(u64),
    /// Wishes over the record of this version.
    WishOver(u64, u64),
}

/// An act of an operator, or of a client of another kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    AddCandidate,
    AddNamelessCandidate,
    RewriteCandidate(Which),
    DeleteCandidate(Which),
    LitterQueue,
    AddMember(Directory, Node, Whose),
    RewriteMember(Directory, Node, Whose),
    DeleteMember(Directory, Node, Whose),
    LitterDirectory(Directory),
    DeleteTerm,
    /// Only where there is a record.
    SpoilTerm,
    DeleteSettings,
    /// Only where there is a wish.
    SpoilWish,
    DeleteWish,
}
