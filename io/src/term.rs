//! What the service of a role is given.

use core::time::Duration;
use std::sync::Arc;

use rolecall_core::{Fence, Role};
use thiserror::Error;
use tokio::sync::watch;

use crate::floor::{Floor, Stale};
use crate::gate::Validity;
use crate::{Clock, Members};

/// One run of a service: its role, what it may do and until when, and whom it works with. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Term {
    pub(crate) role: Role,
    pub(crate) validity: Option<Arc<Validity>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) floor: Floor,
    pub(crate) members: Members,
    pub(crate) stopping: watch::Receiver<bool>,
}

impl Term {
    /// The role of this run.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The token of this term, on a leader, whether or not the term still holds. What is *sent* carries the token that
    /// [`check`](Self::check) returns.
    #[must_use]
    pub fn fence(&self) -> Option<Fence> {
        self.validity.as_ref().map(|validity| validity.fence)
    }

    /// Whether this term holds at this instant. Call it immediately before each thing that only a leader may do, and send
    /// the token along, so that receivers can refuse what arrives late.
    ///
    /// It reads a clock that counts suspended time, so it is right after a pause too, and it knows its own term only: a
    /// later term of this node does not revive an earlier one.
    ///
    /// # Errors
    /// The term is over, or this run is not a leader's.
    pub fn check(&self) -> Result<Fence, TermOver> {
        match &self.validity {
            Some(validity) if validity.holds(&*self.clock) => Ok(validity.fence),
            Some(_) | None => Err(TermOver { fence: self.fence() }),
        }
    }

    /// How long this term holds if it is not renewed; zero where it is over. A limit for what is begun now.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.validity.as_ref().map_or(Duration::ZERO, |validity| validity.time_left(&*self.clock))
    }

    /// Ends when this term does: given up, replaced by another, or past its deadline on the clock. On a worker it ends
    /// when the run is stopped.
    pub async fn ended(&self) {
        match &self.validity {
            Some(validity) => validity.ended(&*self.clock).await,
            None => self.stopping().await,
        }
    }

    /// Ends when this run of the service is to stop. Requests in flight go on until the drain time is over.
    pub async fn stopping(&self) {
        // An error means that whoever could signal is gone: the node crashed or was dropped.
        drop(self.stopping.clone().wait_for(|stopping| *stopping).await);
    }

    /// The workers, now and as they come and go.
    #[must_use]
    pub fn members(&self) -> Members {
        self.members.clone()
    }

    /// Whether a request that carries `fence` may be served, on a worker. A token that is newer than all this node has read
    /// of is held back until the node has looked in the store, for two seconds at most: a forged one locks nobody out.
    ///
    /// # Errors
    /// The token is of an older term or of another life of the store, or the store does not know of it.
    pub async fn admit(&self, fence: Fence) -> Result<(), Stale> {
        self.floor.admit(fence).await
    }
}

/// A leader-only act was refused: its term does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the term{} is over", .fence.map_or_else(|| " of a node that does not lead".into(), |fence| format!(" with epoch {}", fence.epoch.0)))]
pub struct TermOver {
    /// The token of the term; `None` where the run was never a leader's.
    pub fence: Option<Fence>,
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Epoch, Event, Incarnation, Time};
    use tokio::sync::mpsc;

    use super::*;
    use crate::Gate;
    use crate::clock::tests::HandClock;

    const SECOND: Duration = Duration::from_secs(1);

    fn fence(epoch: u64) -> Fence {
        Fence { incarnation: Incarnation(5), epoch: Epoch(epoch) }
    }

    fn gate(clock: &HandClock) -> (Gate, mpsc::Receiver<Event>) {
        let (events, driver) = mpsc::channel(16);
        (Gate::new(Arc::new(clock.clone()), events), driver)
    }

    #[test]
    fn a_term_holds_strictly_before_its_deadline_though_no_task_runs() {
        let clock = HandClock::new();
        let (mut gate, _driver) = gate(&clock);
        let (term, _stop) = gate.term(Role::Leader, Some(fence(7)));
        assert_eq!(term.check(), Err(TermOver { fence: Some(fence(7)) }), "its gate is not open yet");

        gate.open(fence(7), clock.now() + SECOND);
        assert_eq!(term.check(), Ok(fence(7)));
        assert_eq!(term.time_left(), SECOND);

        clock.advance(SECOND);
        assert_eq!(term.check(), Err(TermOver { fence: Some(fence(7)) }));
        assert_eq!(term.time_left(), Duration::ZERO);
    }

    #[test]
    fn a_renewed_term_holds_on() {
        let clock = HandClock::new();
        let (mut gate, _driver) = gate(&clock);
        gate.open(fence(7), clock.now() + SECOND);
        let (term, _stop) = gate.term(Role::Leader, Some(fence(7)));

        gate.open(fence(7), clock.now() + 3 * SECOND);
        clock.advance(2 * SECOND);

        assert_eq!(term.check(), Ok(fence(7)));
    }

    #[test]
    fn a_later_term_does_not_revive_an_earlier_one() {
        let clock = HandClock::new();
        let (mut gate, _driver) = gate(&clock);
        gate.open(fence(7), clock.now() + SECOND);
        let (old, _stop) = gate.term(Role::Leader, Some(fence(7)));

        gate.open(fence(9), clock.now() + SECOND);
        let (new, _stop) = gate.term(Role::Leader, Some(fence(9)));
        assert!(old.check().is_err());
        assert_eq!(new.check(), Ok(fence(9)));

        gate.close();
        gate.open(fence(9), clock.now() + SECOND);
        assert!(new.check().is_err(), "what was closed stays closed");
    }

    #[test]
    fn a_worker_has_no_term_to_act_in() {
        let clock = HandClock::new();
        let (mut gate, _driver) = gate(&clock);
        gate.open(fence(7), clock.now() + SECOND);
        let (term, _stop) = gate.term(Role::Worker, None);

        assert_eq!(term.check(), Err(TermOver { fence: None }));
        assert_eq!(
            term.check().map_err(|over| over.to_string()),
            Err("the term of a node that does not lead is over".into())
        );
    }

    #[tokio::test]
    async fn a_term_ends_by_its_deadline_by_a_close_and_with_its_node() {
        let clock = HandClock::new();
        let (mut gate, _driver) = gate(&clock);
        gate.open(fence(7), clock.now() + SECOND);
        let (term, _stop) = gate.term(Role::Leader, Some(fence(7)));
        gate.open(fence(7), clock.now() + 2 * SECOND);
        clock.advance(SECOND);
        assert!(futures_util::FutureExt::now_or_never(term.ended()).is_none());
        clock.advance(SECOND);
        term.ended().await;

        gate.open(fence(8), Time::MAX);
        let (term, _stop) = gate.term(Role::Leader, Some(fence(8)));
        gate.close();
        term.ended().await;

        gate.open(fence(9), Time::MAX);
        let (term, stop) = gate.term(Role::Leader, Some(fence(9)));
        drop(gate);
        term.ended().await;
        assert!(term.check().is_err());
        drop(stop);
        term.stopping().await;
    }

    #[tokio::test]
    async fn a_waiting_service_sees_its_term_end_while_it_waits() {
        let clock = HandClock::new();
        let (mut gate, _driver) = gate(&clock);
        gate.open(fence(7), Time::MAX);
        let (term, stop) = gate.term(Role::Leader, Some(fence(7)));
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

    #[tokio::test]
    async fn older_terms_and_other_incarnations_are_refused() {
        let clock = HandClock::new();
        let (mut gate, mut driver) = gate(&clock);
        gate.raise_floor(fence(7));
        let (term, _stop) = gate.term(Role::Worker, None);
        let other = Fence { incarnation: Incarnation(6), epoch: Epoch(8) };

        assert_eq!(term.admit(fence(7)).await, Ok(()));
        assert_eq!(term.admit(fence(6)).await, Err(Stale::Older { shown: fence(6), floor: fence(7) }));
        assert_eq!(term.admit(other).await, Err(Stale::OtherIncarnation { shown: other, floor: fence(7) }));
        assert!(driver.try_recv().is_err(), "none of this is worth a look in the store");
    }

    #[tokio::test]
    async fn a_newer_term_is_admitted_once_the_store_confirms_it() {
        let clock = HandClock::new();
        let (mut gate, mut driver) = gate(&clock);
        gate.raise_floor(fence(7));
        let (term, _stop) = gate.term(Role::Worker, None);
        let admitted = tokio::spawn(async move { term.admit(fence(9)).await });

        assert_eq!(driver.recv().await, Some(Event::FenceSeen { fence: fence(9) }));
        gate.raise_floor(fence(8));
        gate.raise_floor(fence(9));

        assert_eq!(admitted.await.expect("the task does not panic"), Ok(()));
    }

    #[tokio::test]
    async fn a_forged_term_is_refused_in_the_end_and_locks_nobody_out() {
        let clock = HandClock::new();
        let (mut gate, mut driver) = gate(&clock);
        gate.raise_floor(fence(7));
        let (term, _stop) = gate.term(Role::Worker, None);
        let forged = tokio::spawn({
            let term = term.clone();
            async move { term.admit(fence(1_000)).await }
        });

        assert_eq!(driver.recv().await, Some(Event::FenceSeen { fence: fence(1_000) }));
        gate.raise_floor(fence(7));
        assert_eq!(term.admit(fence(7)).await, Ok(()));
        while !forged.is_finished() {
            clock.advance(SECOND);
            tokio::task::yield_now().await;
        }

        let refused = forged.await.expect("the task does not panic");
        assert_eq!(refused, Err(Stale::Unconfirmed { shown: fence(1_000), floor: Some(fence(7)) }));
    }
}
