//! The application's wish to lead, or not to.

/// How far this node's place in the election follows the application's wish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Candidacy {
    /// It stands.
    #[default]
    Standing,
    /// It gives its place up. A wish to lead that comes meanwhile waits until nothing is left of that place: others go first.
    Withdrawing { willing: bool },
    /// It has no place, and wants none.
    Abstaining,
}

impl Candidacy {
    pub(super) fn wish(&mut self, willing: bool) {
        *self = match (*self, willing) {
            (Self::Standing | Self::Abstaining, true) => Self::Standing,
            (Self::Standing | Self::Withdrawing { .. }, false) => Self::Withdrawing { willing: false },
            (Self::Withdrawing { .. }, true) => Self::Withdrawing { willing: true },
            (Self::Abstaining, false) => Self::Abstaining,
        };
    }

    /// Nothing is left of the old place.
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
