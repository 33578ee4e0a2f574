//! Part of a node that follows a leader.

use rolecall_core::{Fence, Leader};
use tokio::sync::watch;

use crate::floor::{Floor, Stale};
use crate::term::stopping;

/// Run of a service on a node that does not lead. It knows the leader and decides which requests may be served. Cheap to
/// clone.
#[derive(Clone, Debug)]
pub struct Following {
    pub(crate) floor: Floor,
    pub(crate) leader: watch::Receiver<Option<Leader>>,
    pub(crate) stopping: watch::Receiver<bool>,
}

impl Following {
    /// Decides whether a request with `fence` may be served. If the fence is newer than all that this node has read about,
    /// the request waits until the node has looked in the store, but not longer than two seconds. A forged fence therefore
    /// locks nobody out.
    ///
    /// # Errors
    /// If the fence belongs to an older term or to another incarnation of the store, or the store does not confirm it.
    pub async fn admit(&self, fence: Fence) -> Result<(), Stale> {
        self.floor.admit(fence).await
    }

    /// Leader as seen by this node, for example to redirect a client to it. `None` while no leader is known.
    #[must_use]
    pub fn leader(&self) -> Option<Leader> {
        self.leader.borrow().clone()
    }

    /// Waits until a leader is known, which it is already unless it changes.
    pub async fn until_led(&self) -> Leader {
        let mut leader = self.leader.clone();
        let known = leader.wait_for(Option::is_some).await.ok().and_then(|leader| leader.clone());
        match known {
            Some(leader) => leader,
            // The node has ended: there will be none.
            None => core::future::pending().await,
        }
    }

    /// Waits until this run must stop. Requests in flight go on until the drain time is over.
    pub async fn stopping(&self) {
        stopping(&self.stopping).await;
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::sync::Arc;

    use rolecall_core::{Epoch, Event, Incarnation};
    use tokio::sync::mpsc;

    use super::*;
    use crate::Gate;
    use crate::clock::tests::ManualClock;

    const SECOND: Duration = Duration::from_secs(1);

    fn fence(epoch: u64) -> Fence {
        Fence { incarnation: Incarnation(5), epoch: Epoch(epoch) }
    }

    fn gate(clock: &ManualClock) -> (Gate, mpsc::Receiver<Event>) {
        let (events, driver) = mpsc::channel(16);
        (Gate::new(Arc::new(clock.clone()), events), driver)
    }

    #[test]
    fn a_follower_is_told_who_leads() {
        let (gate, _driver) = gate(&ManualClock::new());
        let (following, _stop) = gate.follow();
        assert_eq!(following.leader(), None);

        let leader = Leader::Node { id: "b".into(), address: "b:1".into(), epoch: Epoch(7) };
        gate.show_leader(Some(leader.clone()));
        assert_eq!(following.leader(), Some(leader));

        gate.show_leader(None);
        assert_eq!(following.leader(), None);
    }

    #[tokio::test]
    async fn older_terms_and_other_incarnations_are_refused() {
        let clock = ManualClock::new();
        let (gate, mut driver) = gate(&clock);
        gate.raise_floor(fence(7));
        let (following, _stop) = gate.follow();
        let other = Fence { incarnation: Incarnation(6), epoch: Epoch(8) };

        assert_eq!(following.admit(fence(7)).await, Ok(()));
        assert_eq!(following.admit(fence(6)).await, Err(Stale::Older { shown: fence(6), floor: fence(7) }));
        assert_eq!(following.admit(other).await, Err(Stale::OtherIncarnation { shown: other, floor: fence(7) }));
        assert!(driver.try_recv().is_err(), "none of this is worth a look in the store");
    }

    #[tokio::test]
    async fn a_newer_term_is_admitted_once_the_store_confirms_it() {
        let clock = ManualClock::new();
        let (gate, mut driver) = gate(&clock);
        gate.raise_floor(fence(7));
        let (following, _stop) = gate.follow();
        let admitted = tokio::spawn(async move { following.admit(fence(9)).await });

        assert_eq!(driver.recv().await, Some(Event::FenceSeen { fence: fence(9) }));
        gate.raise_floor(fence(8));
        gate.raise_floor(fence(9));

        assert_eq!(admitted.await.expect("the task does not panic"), Ok(()));
    }

    #[tokio::test]
    async fn a_forged_term_is_refused_in_the_end_and_locks_nobody_out() {
        let clock = ManualClock::new();
        let (gate, mut driver) = gate(&clock);
        gate.raise_floor(fence(7));
        let (following, _stop) = gate.follow();
        let forged = tokio::spawn({
            let following = following.clone();
            async move { following.admit(fence(1_000)).await }
        });

        assert_eq!(driver.recv().await, Some(Event::FenceSeen { fence: fence(1_000) }));
        gate.raise_floor(fence(7));
        assert_eq!(following.admit(fence(7)).await, Ok(()));
        while !forged.is_finished() {
            clock.advance(SECOND);
            tokio::task::yield_now().await;
        }

        let refused = forged.await.expect("the task does not panic");
        assert_eq!(refused, Err(Stale::Unconfirmed { shown: fence(1_000), floor: Some(fence(7)) }));
    }
}
