//! The servers: what each shows of the tree, and what it holds back.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::exchange::Ask;
use super::tree::Tree;
use crate::Session;

/// What a server shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub(super) enum View {
    /// Whatever is committed.
    #[default]
    Current,
    /// What was committed when it fell behind.
    Lagging(Arc<Tree>),
    /// What it showed when it lost the others.
    Cut(Arc<Tree>),
}

/// What a client sent to a server that could not pass it on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Held {
    pub(super) session: Session,
    pub(super) what: Ask,
    /// Whether the client still waits for the answer.
    pub(super) awaited: bool,
}

/// One server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Replica {
    pub(super) view: View,
    /// In the order in which it came. Empty unless the server is cut.
    pub(super) held: Vec<Held>,
}

impl Replica {
    pub(super) const fn is_cut(&self) -> bool {
        matches!(self.view, View::Cut(_))
    }

    /// Whether something of the session waits here, so that what comes after it has to wait too.
    pub(super) fn holds_for(&self, session: Session) -> bool {
        self.held.iter().any(|held| held.session == session)
    }

    /// What it shows, where `committed` is what there is.
    pub(super) const fn shows<'a>(&'a self, committed: &'a Arc<Tree>) -> &'a Arc<Tree> {
        match &self.view {
            View::Current => committed,
            View::Lagging(tree) | View::Cut(tree) => tree,
        }
    }
}
