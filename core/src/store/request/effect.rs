//! What requests do to the store.

/// What a request does to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Reads what the server shows, which may be out of date.
    Read,
    /// Reads once the server has caught up with the others.
    FreshRead,
    /// Creates something that lives as long as the session.
    Create,
    /// Writes over something, creates what outlives the session, or deletes something.
    Change,
    /// Prolongs a term: a write that time alone paces, not what happens.
    Beat,
}

impl Effect {
    /// True for what has to be committed, and may still happen when nobody waits for its answer any more.
    #[must_use]
    pub const fn is_write(self) -> bool {
        match self {
            Self::Read | Self::FreshRead => false,
            Self::Create | Self::Change | Self::Beat => true,
        }
    }

    /// True for writes that something must have brought about: those that count against
    /// [`WRITES_PER_DISTURBANCE`](crate::observe::Observer::WRITES_PER_DISTURBANCE).
    #[must_use]
    pub const fn is_caused(self) -> bool {
        match self {
            Self::Create | Self::Change => true,
            Self::Read | Self::FreshRead | Self::Beat => false,
        }
    }
}
