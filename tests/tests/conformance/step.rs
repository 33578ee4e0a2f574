//! What a sequence consists of. Everything is named by its place, not by a store's numbers, so that a sequence means the same
//! in each store.

use rolecall_core::Directory;

/// One of the nodes of a sequence, counted from 0. Its id is a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Node(pub(crate) usize);

impl Node {
    pub(crate) fn id(self) -> &'static str {
        ["a", "b", "c", "d"][self.0]
    }
}

/// A candidate by its place among all of which an answer has told so far, those that are gone included; past them, one that
/// never stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Which(pub(crate) usize);

/// A session as seen by a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Its latest.
    Own,
    /// The one before, or one that never was.
    Former,
}

/// One thing that happens. What makes no sense as things stand (to mend what is not broken) does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A node asks, and waits for the answer.
    Ask(Node, Ask),
    /// A node asks for several things before the first is answered.
    Burst(Node, Vec<Ask>),
    /// Somebody else changes the store's data.
    Operator(Deed),
    /// A node loses its connection, and finds none.
    Break(Node),
    /// A node's connection falls silent: nothing ends it, and nothing gets through, on new ones neither.
    Silence(Node),
    /// A node is not told any more what comes of the next thing that it asks for. The store does it.
    Deafen(Node),
    /// The time of a node's sessions runs out while it has no connection; those of the others go on.
    Outlast(Node),
    /// It finds a connection again.
    Mend(Node),
    /// A node loses its connection and comes back at once.
    Flap(Node),
    /// All sessions of a node end in the store.
    Expire(Node),
    /// A node drops its session for another.
    Renew(Node),
    /// A node closes its session.
    Close(Node),
    /// A node dies; its session does not.
    Crash(Node),
    /// A node that closed or died is started again.
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
    /// Writes the record of a term, under this incarnation.
    Claim(Which, u64),
    /// Creates it.
    FirstClaim(Which, u64),
    Beat(Which),
    ReadTerm,
    Join(Directory, Whose),
    /// The same, with the epoch that was claimed last.
    JoinAsLeader(Directory),
    Leave(Directory, Whose),
    Verify(Directory, Whose),
    Members(Directory),
    WatchMembers(Directory),
    Settle(&'static str),
}

/// What an operator does, or a client of another kind.
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
}
