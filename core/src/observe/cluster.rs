//! The promises between nodes.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use crate::{Epoch, Fence, Incarnation, Time, Violation};

/// Compares the gates of all nodes at the same true time, and the order of their terms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cluster {
    /// Whose gate was last seen open, and in which term.
    open: BTreeMap<Arc<str>, Fence>,
    /// Who held the newest term of each incarnation.
    newest: BTreeMap<Incarnation, (Epoch, Arc<str>)>,
    since: Option<Time>,
}

impl Cluster {
    /// A judge that has seen nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells whether `node` could begin a leader-only act at this true instant: its own clock says that its gate is open.
    ///
    /// # Errors
    /// P1, if another node could too; P12, if its term is not newer than the terms of others before it.
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

    /// Since when nobody leads; `None` while somebody does. P6 bounds it in a healthy cluster.
    #[must_use]
    pub fn leaderless_since(&self) -> Option<Time> {
        self.since
    }
}
