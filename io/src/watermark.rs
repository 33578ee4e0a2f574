//! Fencing for a resource outside the cluster: a database, a file server, a device.

use rolecall_core::Fence;
use serde::{Deserialize, Serialize};

use crate::floor::{Stale, verdict};

/// Newest fence that a resource outside the cluster has seen. It refuses older ones (promise P14; Kleppmann, "How to do
/// distributed locking").
///
/// A node checks an unknown fence against the coordination store ([`Following::admit`](crate::Following::admit)). An outside
/// resource cannot, so it believes every newer fence: only nodes that may lead should be able to reach it. Fences of another
/// incarnation of the store do not compare; they are refused until somebody starts with a new watermark. A resource that
/// must remember its watermark across restarts keeps it with its data.
///
/// ```
/// use rolecall_core::{Epoch, Fence, Incarnation};
/// use rolecall::Watermark;
///
/// let fence = |epoch| Fence { incarnation: Incarnation(1), epoch: Epoch(epoch) };
/// let mut watermark = Watermark::new();
/// assert!(watermark.admit(fence(7)).is_ok());
/// assert!(watermark.admit(fence(9)).is_ok());
/// assert!(watermark.admit(fence(7)).is_err(), "it arrives too late");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watermark(Option<Fence>);

impl Watermark {
    /// Makes a watermark that has seen no fence yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Accepts a request with `fence`, and refuses older fences from then on.
    ///
    /// # Errors
    /// If the fence belongs to an older term than one already seen, or to another incarnation of the store.
    pub fn admit(&mut self, fence: Fence) -> Result<(), Stale> {
        if let Some(verdict) = verdict(fence, self.0) {
            return verdict;
        }
        self.0 = Some(fence);
        Ok(())
    }

    /// Newest fence seen.
    #[must_use]
    pub const fn newest(&self) -> Option<Fence> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Epoch, Incarnation};

    use super::*;

    fn fence(incarnation: u64, epoch: u64) -> Fence {
        Fence { incarnation: Incarnation(incarnation), epoch: Epoch(epoch) }
    }

    #[test]
    fn a_newer_fence_shuts_out_older_ones() {
        let mut watermark = Watermark::new();
        assert_eq!(watermark.admit(fence(1, 7)), Ok(()));
        assert_eq!(watermark.admit(fence(1, 7)), Ok(()), "a term sends more than once");
        assert_eq!(watermark.admit(fence(1, 9)), Ok(()));

        assert_eq!(watermark.admit(fence(1, 8)), Err(Stale::Older { shown: fence(1, 8), floor: fence(1, 9) }));
        assert_eq!(watermark.newest(), Some(fence(1, 9)));
    }

    #[test]
    fn a_fence_of_another_incarnation_is_refused_and_changes_nothing() {
        let mut watermark = Watermark::new();
        assert_eq!(watermark.admit(fence(1, 7)), Ok(()));

        let refused = Stale::OtherIncarnation { shown: fence(2, 8), floor: fence(1, 7) };
        assert_eq!(watermark.admit(fence(2, 8)), Err(refused));
        assert_eq!(watermark.newest(), Some(fence(1, 7)));
    }
}
