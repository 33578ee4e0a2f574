//! Gate at the point of use: decides whether a leader-only act may begin *now*.
//!
//! ```text
//! driver:   open(fence, until) … open(fence, later) … close()
//!                     │ one deadline for each term, an atomic
//! service:  term.check()  = the deadline of *its own* term against the clock, read at this instant
//! ```
//!
//! When a stopped process goes on, it may serve a ready connection before any of its tasks runs. So the check does not ask a
//! task: it compares a deadline with a clock, and is right whatever the driver is doing.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Arc;

use rolecall_core::{Event, Fence, Leader, Time};
use tokio::sync::{mpsc, watch};

use crate::floor::Floor;
use crate::members::Roster;
use crate::mutant::Mutant;
use crate::{Clock, Following, LeaderTerm};

/// Gate that the driver opens and closes as the core orders. It issues the [`LeaderTerm`] or the [`Following`] of each run of
/// a service.
///
/// The tests of a service make their own gate and play the driver:
///
/// ```
/// use core::time::Duration;
/// use std::sync::Arc;
/// use rolecall_core::{Epoch, Fence, Incarnation};
/// use rolecall::{Clock, Gate, SystemClock};
///
/// let clock = Arc::new(SystemClock::new());
/// let (events, _driver) = tokio::sync::mpsc::channel(16);
/// let mut gate = Gate::new(clock.clone(), events);
/// let fence = Fence { incarnation: Incarnation(1), epoch: Epoch(7) };
///
/// gate.open(fence, clock.now() + Duration::from_secs(60));
/// let (term, _stop) = gate.lead(fence);
/// assert_eq!(term.check(), Ok(fence));
///
/// gate.close();
/// assert!(term.check().is_err());
/// ```
#[derive(Debug)]
pub struct Gate {
    clock: Arc<dyn Clock>,
    floor: Floor,
    workers: Roster,
    leader: watch::Sender<Option<Leader>>,
    validity: watch::Sender<Option<Arc<Validity>>>,
}

impl Gate {
    /// Makes a closed gate. Events from services to the core go to `events`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, events: mpsc::Sender<Event>) -> Self {
        let floor = Floor::new(Arc::clone(&clock), events);
        let (leader, validity) = (watch::Sender::new(None), watch::Sender::new(None));
        Self { clock, floor, workers: Roster::default(), leader, validity }
    }

    /// Lets acts of the term `fence` begin strictly before `until`. If another term was open, it is over.
    pub fn open(&mut self, fence: Fence, until: Time) {
        self.validity_of(fence).extend(until);
    }

    /// Ends the open term, if there is one. Its [`LeaderTerm`]s stay over, whatever is opened later.
    pub fn close(&mut self) {
        if let Some(validity) = self.validity.send_replace(None) {
            validity.end();
        }
    }

    /// Read-only view of the gate, for code outside a service that must know at any instant which term is open.
    #[must_use]
    pub fn view(&self) -> GateView {
        GateView { clock: Arc::clone(&self.clock), validity: self.validity.subscribe() }
    }

    /// From now on, refuses requests of terms older than `fence` and those of other incarnations.
    pub fn raise_floor(&self, fence: Fence) {
        self.floor.publish(fence);
    }

    /// Fence of the newest term that this node has read about.
    #[must_use]
    pub fn floor(&self) -> Option<Fence> {
        self.floor.current()
    }

    /// Workers directory, as services see it.
    #[must_use]
    pub fn workers(&self) -> &Roster {
        &self.workers
    }

    /// Tells followers who leads.
    pub fn show_leader(&self, leader: Option<Leader>) {
        self.leader.send_if_modified(|shown| {
            let is_new = *shown != leader;
            *shown = leader;
            is_new
        });
    }

    /// The leader that followers are told of, now and as it changes.
    pub(crate) fn leader(&self) -> watch::Receiver<Option<Leader>> {
        self.leader.subscribe()
    }

    /// Makes the term for one run of a service that leads with `fence`, and the signal that stops the run.
    pub fn lead(&mut self, fence: Fence) -> (LeaderTerm, Stop) {
        let stop = Stop::new();
        let term = LeaderTerm {
            validity: self.validity_of(fence),
            clock: Arc::clone(&self.clock),
            members: self.workers.subscribe(),
            stopping: stop.0.subscribe(),
        };
        (term, stop)
    }

    /// Makes the part for one run of a service that follows, and the signal that stops the run.
    #[must_use]
    pub fn follow(&self) -> (Following, Stop) {
        let stop = Stop::new();
        let following =
            Following { floor: self.floor.clone(), leader: self.leader.subscribe(), stopping: stop.0.subscribe() };
        (following, stop)
    }

    fn validity_of(&mut self, fence: Fence) -> Arc<Validity> {
        let open = self.validity.borrow().as_ref().filter(|validity| validity.fence == fence).map(Arc::clone);
        open.unwrap_or_else(|| {
            self.close();
            let validity = Arc::new(Validity::new(fence));
            self.validity.send_replace(Some(Arc::clone(&validity)));
            validity
        })
    }
}

/// Without a gate, no term can be renewed, so the open term ends.
impl Drop for Gate {
    fn drop(&mut self) {
        self.close();
    }
}

/// Read-only view of a node's gate, which tells the term that is valid at this instant.
#[derive(Clone, Debug)]
pub struct GateView {
    clock: Arc<dyn Clock>,
    validity: watch::Receiver<Option<Arc<Validity>>>,
}

impl GateView {
    /// Fence of the term that is valid at this instant, and the time for which it stays valid unless it is renewed.
    #[must_use]
    pub fn term(&self) -> Option<(Fence, Duration)> {
        let validity = self.validity.borrow();
        let validity = validity.as_ref()?;
        let left = validity.time_left(&*self.clock);
        (!left.is_zero()).then_some((validity.fence, left))
    }
}

/// Signal that stops one run of a service.
#[derive(Debug)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Tells the service to end its run.
    pub fn signal(&self) {
        self.0.send_replace(true);
    }
}

/// Validity of one term. Never reused for another term.
#[derive(Debug)]
pub(crate) struct Validity {
    pub(crate) fence: Fence,
    /// End of the validity, in nanoseconds on the clock's axis. Zero before the gate opens and after the term has ended.
    until: AtomicU64,
    phase: watch::Sender<Phase>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not opened yet: the service of a term may start before its gate opens.
    Unopened,
    Until(Time),
    Over,
}

impl Validity {
    fn new(fence: Fence) -> Self {
        Self { fence, until: AtomicU64::new(0), phase: watch::Sender::new(Phase::Unopened) }
    }

    fn extend(&self, until: Time) {
        self.until.store(until.as_nanos(), Ordering::Release);
        self.phase.send_replace(Phase::Until(until));
    }

    fn end(&self) {
        self.until.store(0, Ordering::Release);
        self.phase.send_replace(Phase::Over);
    }

    pub(crate) fn holds(&self, clock: &dyn Clock) -> bool {
        !self.time_left(clock).is_zero()
    }

    pub(crate) fn time_left(&self, clock: &dyn Clock) -> Duration {
        // Read the deadline before the clock: a pause in between can only make the answer stricter.
        let until = Time::from_nanos(self.until.load(Ordering::Acquire));
        if Mutant::GateOnlyInDriver.lives() {
            return until.since(Time::ZERO);
        }
        until.since(clock.now())
    }

    /// End of the validity; [`Time::ZERO`] before the gate opens and after the term has ended.
    pub(crate) fn until(&self) -> Time {
        Time::from_nanos(self.until.load(Ordering::Acquire))
    }

    /// Waits until the validity ends at another time than `known`, and returns it. `None` once the term was ended.
    pub(crate) async fn moved_from(&self, known: Time) -> Option<Time> {
        let is_news = |phase: &Phase| match phase {
            Phase::Unopened => false,
            Phase::Until(until) => *until != known,
            Phase::Over => true,
        };
        // This never fails, because `self` keeps the sender.
        let phase = self.phase.subscribe().wait_for(is_news).await.map_or(Phase::Over, |phase| *phase);
        match phase {
            Phase::Until(until) => Some(until),
            Phase::Unopened | Phase::Over => None,
        }
    }

    /// Waits until the term is over: closed, replaced, or past its deadline without an extension.
    pub(crate) async fn ended(&self, clock: &dyn Clock) {
        let mut phases = self.phase.subscribe();
        loop {
            let phase = *phases.borrow_and_update();
            let changed = phases.changed();
            match phase {
                Phase::Over => return,
                Phase::Until(until) if until <= clock.now() => return,
                Phase::Unopened => drop(changed.await),
                Phase::Until(until) => {
                    tokio::select! {
                        _ = changed => {}
                        () = clock.sleep_until(until) => {}
                    }
                }
            }
        }
    }
}
