//! The effects of requests on the store.

/// Effect of a request on the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Reads the server's view, which may be out of date.
    Read,
    /// Reads once the server has caught up with the others.
    FreshRead,
    /// Creates an entry that lives as long as the session.
    Create,
    /// Overwrites something, creates something that outlives the session, or deletes something.
    Change,
    /// Prolongs a term: a write paced by time, not by events.
    Beat,
}

impl Effect {
    /// True if the request has to be committed. It may then still happen after nobody waits for its answer any more.
    #[must_use]
    pub const fn is_write(self) -> bool {
        match self {
            Self::Read | Self::FreshRead => false,
            Self::Create | Self::Change | Self::Beat => true,
        }
    }

    /// True for writes that need a cause. They count against
    /// [`WRITES_PER_DISTURBANCE`](crate::observe::NodeJudge::WRITES_PER_DISTURBANCE).
    #[must_use]
    pub const fn is_caused(self) -> bool {
        match self {
            Self::Create | Self::Change => true,
            Self::Read | Self::FreshRead | Self::Beat => false,
        }
    }
}
