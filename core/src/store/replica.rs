//! The servers: their views of the tree, and the requests they hold.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::exchange::Ask;
use super::tree::Tree;
use crate::Session;

/// A server's view of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub(super) enum View {
    /// Every commit.
    #[default]
    Current,
    /// The commits from before the server fell behind.
    Lagging(Arc<Tree>),
    /// The view that it had when it lost the others.
    Cut(Arc<Tree>),
}

/// A client's request that its server could not pass on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Held {
    pub(super) session: Session,
    pub(super) what: Ask,
    /// True if the client still waits for the answer.
    pub(super) awaited: bool,
}

/// One server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Replica {
    pub(super) view: View,
    /// Held requests, in the order in which they came. Empty unless the server is cut off.
    pub(super) held: Vec<Held>,
}

impl Replica {
    pub(super) const fn is_cut(&self) -> bool {
        matches!(self.view, View::Cut(_))
    }

    /// True if a request of the session waits here, so that later ones have to wait too.
    pub(super) fn holds_for(&self, session: Session) -> bool {
        self.held.iter().any(|held| held.session == session)
    }

    /// The tree that it shows, given the committed one.
    pub(super) const fn shows<'a>(&'a self, committed: &'a Arc<Tree>) -> &'a Arc<Tree> {
        match &self.view {
            View::Current => committed,
            View::Lagging(tree) | View::Cut(tree) => tree,
        }
    }
}
