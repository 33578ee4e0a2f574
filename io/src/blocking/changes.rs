//! Changes of a value, for callers that block.

use core::time::Duration;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::watch;

/// Iterator over the values of something that changes: the present value first, then each change, as long as the membership
/// lasts. A slow reader misses values that were replaced meanwhile, and always gets the latest.
///
/// It blocks its caller, and panics within async code.
#[derive(Debug)]
#[must_use = "an iterator does nothing unless it is read"]
pub struct Changes<T> {
    values: watch::Receiver<T>,
    waits: Arc<Runtime>,
}

impl<T: Clone + Send + Sync> Changes<T> {
    pub(super) fn new(mut values: watch::Receiver<T>, waits: &Arc<Runtime>) -> Self {
        values.mark_changed();
        Self { values, waits: Arc::clone(waits) }
    }

    /// Present value. The iterator does not count it as read.
    #[must_use]
    pub fn now(&self) -> T {
        self.values.borrow().clone()
    }

    /// Waits for the next value, but not longer than `limit`. `None` if there was none in time, or the membership has ended.
    ///
    /// # Panics
    /// Within async code.
    pub fn next_within(&mut self, limit: Duration) -> Option<T> {
        let values = &mut self.values;
        self.waits.block_on(async { tokio::time::timeout(limit, values.changed()).await.ok()?.ok() })?;
        Some(self.values.borrow_and_update().clone())
    }
}

impl<T: Clone + Send + Sync> Iterator for Changes<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.waits.block_on(self.values.changed()).ok()?;
        Some(self.values.borrow_and_update().clone())
    }
}
