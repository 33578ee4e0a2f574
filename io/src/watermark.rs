//! The fence for what lies outside the cluster: a database, a file server, a device.

use rolecall_core::Fence;
use serde::{Deserialize, Serialize};

use crate::floor::{Stale, verdict};

/// The newest token that something outside the cluster was shown, which refuses older ones from then on (promise P14; Kleppmann,
/// "How to do distributed locking").
///
/// A node asks the coordination store what to think of a token ([`Term::admit`](crate::Following::admit)); what stands outside can't,
/// so it believes each token that is newer: only those who may lead should reach it. Tokens of another life of the store do not
/// compare: they are refused until somebody starts with a new watermark. What must not forget it across a restart keeps it with
/// its data.
///
/// ```
/// use rolecall_core::{Epoch, Fence, Incarnation};
/// use rolecall::Watermark;
///
/// let fence = |epoch| Fence { incarnation: Incarnation(1), epoch: Epoch(epoch) };
/// let mut watermark = Watermark::new();
/// assert!(watermark.admit(fence(7)).is_ok());
/// assert!(watermark.admit(fence(9)).is_ok());
/// assert!(watermark.admit(fence(7)).is_err(), "it comes late");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watermark(Option<Fence>);

impl Watermark {
    /// Nothing was shown yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Whether what carries `fence` may be done. From then on older tokens are refused.
    ///
    /// # Errors
    /// The token is of an older term than one that was shown, or of another life of the store.
    pub fn admit(&mut self, fence: Fence) -> Result<(), Stale> {
        if let Some(verdict) = verdict(fence, self.0) {
            return verdict;
        }
        self.0 = Some(fence);
        Ok(())
    }

    /// The newest token that was shown.
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
    fn a_newer_token_shuts_the_older_ones_out() {
        let mut watermark = Watermark::new();
        assert_eq!(watermark.admit(fence(1, 7)), Ok(()));
        assert_eq!(watermark.admit(fence(1, 7)), Ok(()), "a term sends more than once");
        assert_eq!(watermark.admit(fence(1, 9)), Ok(()));

        assert_eq!(watermark.admit(fence(1, 8)), Err(Stale::Older { shown: fence(1, 8), floor: fence(1, 9) }));
        assert_eq!(watermark.newest(), Some(fence(1, 9)));
    }

    #[test]
    fn a_token_of_another_life_of_the_store_is_refused_and_changes_nothing() {
        let mut watermark = Watermark::new();
        assert_eq!(watermark.admit(fence(1, 7)), Ok(()));

        let refused = Stale::OtherIncarnation { shown: fence(2, 8), floor: fence(1, 7) };
        assert_eq!(watermark.admit(fence(2, 8)), Err(refused));
        assert_eq!(watermark.newest(), Some(fence(1, 7)));
    }
}
