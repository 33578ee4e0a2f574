//! State of the search on one node, for `/status`.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde::Serialize;

use super::SearchService;
use crate::search::holdings::IndexSize;
use crate::search::shares::{Shares, SharesReport};

/// State of the search on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SearchStatus {
    /// The shards of the cluster, as a leader knows them; `None` on a worker.
    pub shares: Option<SharesReport>,
    /// The index of this node.
    pub index: IndexSize,
}

/// The shares of the term that this node leads, if it leads one.
#[derive(Clone, Debug, Default)]
pub(super) struct Leading(Arc<Mutex<Weak<Shares>>>);

impl Leading {
    pub(super) fn begin(&self, shares: &Arc<Shares>) {
        self.set(Arc::downgrade(shares));
    }

    pub(super) fn end(&self) {
        self.set(Weak::new());
    }

    fn set(&self, shares: Weak<Shares>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = shares;
    }

    fn shares(&self) -> Option<Arc<Shares>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }
}

impl SearchService {
    /// State of the search on this node.
    #[must_use]
    pub fn status(&self) -> SearchStatus {
        let shares = self.leading.shares().map(|shares| shares.report(self.options.clock.now()));
        SearchStatus { shares, index: self.holdings.size() }
    }
}
