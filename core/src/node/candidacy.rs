//! The application's will to lead, or not to lead.

/// Progress of this node's place in the election towards the application's will.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Candidacy {
    /// The node stands.
    #[default]
    Standing,
    /// The node gives up its place. A new will to lead waits until nothing is left of that place: others go first.
    Withdrawing { willing: bool },
    /// The node has no place, and wants none.
    Abstaining,
}

impl Candidacy {
    pub(super) fn stand(&mut self, willing: bool) {
        *self = match (*self, willing) {
            (Self::Standing | Self::Abstaining, true) => Self::Standing,
            (Self::Standing | Self::Withdrawing { .. }, false) => Self::Withdrawing { willing: false },
            (Self::Withdrawing { .. }, true) => Self::Withdrawing { willing: true },
            (Self::Abstaining, false) => Self::Abstaining,
        };
    }

    /// Notes that nothing is left of the old place.
    pub(super) fn withdrawn(&mut self) {
        *self = match *self {
            Self::Standing | Self::Withdrawing { willing: true } => Self::Standing,
            Self::Withdrawing { willing: false } | Self::Abstaining => Self::Abstaining,
        };
    }

    pub(super) fn stands(self) -> bool {
        match self {
            Self::Standing => true,
            Self::Withdrawing { .. } | Self::Abstaining => false,
        }
    }
}
