//! The steps of a sequence. Tokens are named by their age, so that a step makes sense wherever it stands.

use core::time::Duration;

/// One of the nodes, counted from 0. Its id is a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node(pub(crate) usize);

impl Node {
    pub(crate) const ALL: [Self; 3] = [Self(0), Self(1), Self(2)];

    pub(crate) fn id(self) -> &'static str {
        ["a", "b", "c"][self.0]
    }
}

/// A token, by the number of those that were made after it. Too high a number means one that was never made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Age(pub(crate) usize);

/// The token of the latest attempt to acquire.
pub(crate) const LATEST: Age = Age(0);

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Peek,
    Watch,
    /// With a fresh token.
    Acquire(Duration),
    Renew(Age, Duration),
    Release(Age),
}

/// A way in which a server stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standstill {
    /// Its process is stopped (SIGSTOP).
    Stopped,
    /// It lets its clients wait (`CLIENT PAUSE`).
    Paused,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A node sends a request and waits for the answer.
    Ask(Node, Ask),
    /// The server's wall clock steps by seconds, and everybody is heard at the new time.
    Clock(i64),
    /// A node closes its session in good order and opens another.
    Close(Node),
    /// The server is killed, and starts again with its data.
    Restart,
    /// The server is killed, loses its data, and starts again.
    Wipe,
    /// `FLUSHALL`.
    FlushData,
    /// `SCRIPT FLUSH`.
    FlushScripts,
    /// A replica attaches, and goes.
    Attach,
    /// A replica is promoted that lacks the last request, and the primary is gone.
    Promote(Node, Ask),
    /// All nodes ask while the server stands still.
    StandStill(Standstill, [Ask; 3]),
    /// All connections are killed while a request is under way, so that its answer may be lost.
    Break(Node, Ask),
    /// The primary becomes a replica for a while, and may not write. A node asks for something that the server has to
    /// refuse.
    ForbidWrites(Node, Ask),
}
