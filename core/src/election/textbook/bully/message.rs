//! Messages of the Bully algorithm.

/// A message: the call of a procedure on another node, or the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// A call.
    Call {
        /// The procedure.
        call: Call,
        /// Number of the caller's round.
        round: u64,
    },
    /// The answer to a call.
    Return {
        /// The procedure.
        to: Call,
        /// Number of the caller's round.
        round: u64,
        /// True unless the node was asked whether it is normal and is not.
        yes: bool,
    },
}

/// A procedure that a node runs at once when another calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Asks whether a node is up.
    AreYouThere,
    /// Asks whether a node works for a coordinator.
    AreYouNormal,
    /// Stops an election or work under another coordinator.
    Halt,
    /// Names the caller as coordinator.
    NewCoordinator,
    /// Hands out the coordinator's task.
    Ready,
}
