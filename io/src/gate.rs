//! The gate at the point of use: whether a leader-only act may begin *now*.
//!
//! ```text
//! driver:   open(fence, until) … open(fence, later) … close()
//!                     │ one deadline for each term, an atomic
//! service:  term.check()  = the deadline of *its own* term against the clock, read this instant
//! ```
//!
//! A process that was stopped and goes on may serve a ready connection before any of its tasks runs. So the check does not
//! ask a task: it compares a deadline with a clock, and is right whatever the driver is doing.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Arc;

use rolecall_core::{Event, Fence, Leader, Time};
use tokio::sync::{mpsc, watch};

use crate::floor::Floor;
use crate::members::Roster;
use crate::mutant::Mutant;
use crate::{Clock, Following, LeaderTerm};

/// Opened and closed by the driver as the core says; hands out the [`LeaderTerm`] or the [`Following`] of each run of a
/// service.
///
/// Tests of a service make one of their own and play the driver:
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
    /// A closed gate. What services have to tell the core goes into `events`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, events: mpsc::Sender<Event>) -> Self {
        let floor = Floor::new(Arc::clone(&clock), events);
        let (leader, validity) = (watch::Sender::new(None), watch::Sender::new(None));
        Self { clock, floor, workers: Roster::default(), leader, validity }
    }

    /// Lets the acts of the term `fence` begin strictly before `until`. Another term that was open is over.
    pub fn open(&mut self, fence: Fence, until: Time) {
        self.validity_of(fence).extend(until);
    }

    /// Ends the term that is open, if one is. Its [`LeaderTerm`]s stay over, whatever is opened later.
    pub fn close(&mut self) {
        if let Some(validity) = self.validity.send_replace(None) {
            validity.end();
        }
    }

    /// What is open, for whoever has to know it at an instant without being a service.
    #[must_use]
    pub fn view(&self) -> GateView {
        GateView { clock: Arc::clone(&self.clock), validity: self.validity.subscribe() }
    }

    /// Refuses requests of terms older than `fence`, and those of other incarnations, from now on.
    pub fn raise_floor(&self, fence: Fence) {
        self.floor.publish(fence);
    }

    /// The newest term that this node has read of.
    #[must_use]
    pub fn floor(&self) -> Option<Fence> {
        self.floor.current()
    }

    /// The workers directory, as services see it.
    #[must_use]
    pub fn workers(&self) -> &Roster {
        &self.workers
    }

    /// Tells whoever follows who leads.
    pub fn show_leader(&self, leader: Option<Leader>) {
        self.leader.send_if_modified(|shown| {
            let is_new = *shown != leader;
            *shown = leader;
            is_new
        });
    }

    /// The term for one run of a service that leads, with `fence` as its token, and the signal that stops it.
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

    /// The part for one run of a service that follows, and the signal that stops it.
    #[must_use]
    pub fn follow(&self) -> (Following, Stop) {
        let stop = Stop::new();
        let following = Following {
            floor: self.floor.clone(),
            leader: self.leader.subscribe(),
            members: self.workers.subscribe(),
            stopping: stop.0.subscribe(),
        };
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

/// Whoever dropped the gate can renew no term: what was open ends.
impl Drop for Gate {
    fn drop(&mut self) {
        self.close();
    }
}

/// Looks through the gate of a node: which term holds at this instant, if one does.
#[derive(Clone, Debug)]
pub struct GateView {
    clock: Arc<dyn Clock>,
    validity: watch::Receiver<Option<Arc<Validity>>>,
}

impl GateView {
    /// What the term that is open proves at this instant, and how long it holds if it is not renewed.
    #[must_use]
    pub fn term(&self) -> Option<(Fence, Duration)> {
        let validity = self.validity.borrow();
        let validity = validity.as_ref()?;
        let left = validity.time_left(&*self.clock);
        (!left.is_zero()).then_some((validity.fence, left))
    }
}

/// Stops one run of a service.
#[derive(Debug)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Tells the service that its run is to end.
    pub fn signal(&self) {
        self.0.send_replace(true);
    }
}

/// How long one term may act. Never reused for another term.
#[derive(Debug)]
pub(crate) struct Validity {
    pub(crate) fence: Fence,
    /// Nanoseconds on the clock's axis. Zero before it is opened and after it is ended.
    until: AtomicU64,
    phase: watch::Sender<Phase>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The service of a term may be started before its gate is opened.
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
        // The deadline before the clock: a pause in between can only make the answer stricter.
        let until = Time::from_nanos(self.until.load(Ordering::Acquire));
        if Mutant::GateOnlyInDriver.lives() {
            return until.since(Time::ZERO);
        }
        until.since(clock.now())
    }

    /// Ends once the term is over: closed, replaced, or past its deadline with no extension.
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
