//! Part of a node that leads: one term.

use core::time::Duration;
use std::sync::Arc;

use rolecall_core::{Fence, Time};
use thiserror::Error;
use tokio::sync::watch;

use crate::gate::Validity;
use crate::{Clock, Members};

/// Run of a service on a node that leads, for one term. It checks that the term is still valid and knows the workers. Cheap
/// to clone.
#[derive(Clone, Debug)]
pub struct LeaderTerm {
    pub(crate) validity: Arc<Validity>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) members: Members,
    pub(crate) stopping: watch::Receiver<bool>,
}

impl LeaderTerm {
    /// Fence of this term, whether or not the term is still valid. Requests that are *sent* must carry the fence that
    /// [`check`](Self::check) returns.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.validity.fence
    }

    /// Checks that this term is valid at this instant. Call it immediately before each act that only a leader may perform,
    /// and send the fence along, so that receivers can refuse a request that arrives too late.
    ///
    /// The check reads a clock that counts suspended time, so it is right after a pause too. It concerns this term only: a
    /// later term of the same node does not revive an earlier one.
    ///
    /// # Errors
    /// If the term is over.
    pub fn check(&self) -> Result<Fence, TermOver> {
        let fence = self.fence();
        if self.validity.holds(&*self.clock) { Ok(fence) } else { Err(TermOver { fence }) }
    }

    /// Time for which this term stays valid unless it is renewed; zero if it is over. Use it to limit work that begins now.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.validity.time_left(&*self.clock)
    }

    /// End of this term unless it is renewed; [`Time::ZERO`] once it is over.
    pub(crate) fn valid_until(&self) -> Time {
        self.validity.until()
    }

    /// Waits until the term ends at another time than `known`, and returns it. `None` once the term was given up or replaced.
    pub(crate) async fn moved_from(&self, known: Time) -> Option<Time> {
        self.validity.moved_from(known).await
    }

    /// Waits until this term ends: given up, replaced by another, or past its deadline.
    pub async fn ended(&self) {
        self.validity.ended(&*self.clock).await;
    }

    /// Waits until this run of the service must stop. Requests in flight go on until the drain time is over.
    pub async fn stopping(&self) {
        stopping(&self.stopping).await;
    }

    /// Workers, with updates as they come and go.
    #[must_use]
    pub fn members(&self) -> Members {
        self.members.clone()
    }
}

/// Waits for the signal to stop.
pub(crate) async fn stopping(signal: &watch::Receiver<bool>) {
    // An error means that the sender is gone: the node crashed or was dropped.
    drop(signal.clone().wait_for(|stopping| *stopping).await);
}

/// Refusal of a leader-only act: the term is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the term with epoch {} is over", .fence.epoch.0)]
pub struct TermOver {
    /// Fence of the term.
    pub fence: Fence,
}

#[cfg(test)]
mod tests {
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
    fn a_term_holds_strictly_before_its_deadline_though_no_task_runs() {
        let clock = ManualClock::new();
        let (mut gate, _driver) = gate(&clock);
        let (term, _stop) = gate.lead(fence(7));
        assert_eq!(term.check(), Err(TermOver { fence: fence(7) }), "its gate is not open yet");

        gate.open(fence(7), clock.now() + SECOND);
        assert_eq!(term.check(), Ok(fence(7)));
        assert_eq!(term.time_left(), SECOND);

        clock.advance(SECOND);
        assert_eq!(term.check(), Err(TermOver { fence: fence(7) }));
        assert_eq!(term.time_left(), Duration::ZERO);
    }

    #[test]
    fn a_renewed_term_holds_on() {
        let clock = ManualClock::new();
        let (mut gate, _driver) = gate(&clock);
        gate.open(fence(7), clock.now() + SECOND);
        let (term, _stop) = gate.lead(fence(7));

        gate.open(fence(7), clock.now() + 3 * SECOND);
        clock.advance(2 * SECOND);

        assert_eq!(term.check(), Ok(fence(7)));
    }

    #[test]
    fn a_later_term_does_not_revive_an_earlier_one() {
        let clock = ManualClock::new();
        let (mut gate, _driver) = gate(&clock);
        gate.open(fence(7), clock.now() + SECOND);
        let (old, _stop) = gate.lead(fence(7));

        gate.open(fence(9), clock.now() + SECOND);
        let (new, _stop) = gate.lead(fence(9));
        assert!(old.check().is_err());
        assert_eq!(new.check(), Ok(fence(9)));

        gate.close();
        gate.open(fence(9), clock.now() + SECOND);
        assert!(new.check().is_err(), "what was closed stays closed");
    }

    #[tokio::test]
    async fn a_term_ends_by_its_deadline_by_a_close_and_with_its_node() {
        let clock = ManualClock::new();
        let (mut gate, _driver) = gate(&clock);
        gate.open(fence(7), clock.now() + SECOND);
        let (term, _stop) = gate.lead(fence(7));
        gate.open(fence(7), clock.now() + 2 * SECOND);
        clock.advance(SECOND);
        assert!(futures_util::FutureExt::now_or_never(term.ended()).is_none());
        clock.advance(SECOND);
        term.ended().await;

        gate.open(fence(8), Time::MAX);
        let (term, _stop) = gate.lead(fence(8));
        gate.close();
        term.ended().await;

        gate.open(fence(9), Time::MAX);
        let (term, stop) = gate.lead(fence(9));
        drop(gate);
        term.ended().await;
        assert!(term.check().is_err());
        drop(stop);
        term.stopping().await;
    }

    #[tokio::test]
    async fn a_waiting_service_sees_its_term_end_while_it_waits() {
        let clock = ManualClock::new();
        let (mut gate, _driver) = gate(&clock);
        gate.open(fence(7), Time::MAX);
        let (term, stop) = gate.lead(fence(7));
        let ended = tokio::spawn({
            let term = term.clone();
            async move { term.ended().await }
        });
        let stopping = tokio::spawn(async move { term.stopping().await });
        tokio::task::yield_now().await;

        gate.close();
        stop.signal();

        ended.await.expect("the task does not panic");
        stopping.await.expect("the task does not panic");
    }
}
