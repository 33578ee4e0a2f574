//! The promises between nodes.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use crate::{Epoch, Fence, Incarnation, Time, Violation};

/// Compares the gates of all nodes at the same true time, and the order of their terms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClusterJudge {
    /// Nodes whose gate was last seen open, with the fence of their term.
    open: BTreeMap<Arc<str>, Fence>,
    /// Epoch and holder of the newest term of each incarnation.
    newest: BTreeMap<Incarnation, (Epoch, Arc<str>)>,
    since: Option<Time>,
}

impl ClusterJudge {
    /// A judge that has seen nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Judges the gate of `node` at a true time. `open`: fence of its term, if its own clock says that a leader-only
    /// act could begin.
    ///
    /// # Errors
    /// P1, if another node's gate is open too; P12, if its term is not newer than earlier terms of others.
    pub fn gate(&mut self, now: Time, node: &Arc<str>, open: Option<Fence>) -> Result<(), Violation> {
        let Some(fence) = open else {
            self.open.remove(node);
            if self.open.is_empty() {
                self.since.get_or_insert(now);
            }
            return Ok(());
        };
        self.since = None;
        if self.open.insert(Arc::clone(node), fence) != Some(fence) {
            self.begin(node, fence)?;
        }
        if self.open.len() > 1 { Err(Violation::TwoLeaders) } else { Ok(()) }
    }

    fn begin(&mut self, node: &Arc<str>, fence: Fence) -> Result<(), Violation> {
        let newest = self.newest.get(&fence.incarnation);
        if newest.is_some_and(|(epoch, holder)| *epoch > fence.epoch || (*epoch == fence.epoch && holder != node)) {
            return Err(Violation::EpochNotRising);
        }
        self.newest.insert(fence.incarnation, (fence.epoch, Arc::clone(node)));
        Ok(())
    }

    /// Time since when no node leads; `None` while one does. P6 bounds it in a healthy cluster.
    #[must_use]
    pub fn leaderless_since(&self) -> Option<Time> {
        self.since
    }
}
