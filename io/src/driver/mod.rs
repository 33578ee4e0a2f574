//! Driver: one task that owns the node's machine and decides nothing.
//!
//! It takes events from the store, services, operators and the clock's alarm, stamps them with the clock, and carries out
//! the machine's actions in order, the gate first.

mod orders;
mod outcome;
mod place;
mod services;
mod sources;
#[cfg(all(test, feature = "http"))]
mod tests;

use core::future::poll_fn;
use core::task::Poll;
use core::time::Duration;
use std::sync::Arc;

use rolecall_core::{Action, Announcement, Directory, Event, Fence, Leader, Member, Node, Role, Time};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

pub(crate) use self::orders::Orders;
pub use self::outcome::Outcome;
pub(crate) use self::place::Driving;
pub use self::place::RunOn;
use self::services::Services;
use crate::entropy::Entropy;
use crate::journal::Journal;
use crate::metrics::{Meter, Metrics};
use crate::mutant::Mutant;
use crate::service::ErasedService;
use crate::status::StatusBoard;
use crate::store::{Store, StoreEvent};
use crate::{Assignment, BoxFuture, Clock, Gate, Stop, Tap};

/// Parts of a driver.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) node: Node,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Box<dyn Entropy>,
    pub(crate) store: Box<dyn Store>,
    pub(crate) gate: Gate,
    pub(crate) inbox: mpsc::Receiver<Event>,
    pub(crate) orders: mpsc::UnboundedReceiver<Event>,
    pub(crate) ended: watch::Sender<Option<Outcome>>,
    pub(crate) members: watch::Sender<Arc<[Member]>>,
    pub(crate) service: Arc<dyn ErasedService>,
    /// Runtime of the application.
    pub(crate) runtime: Handle,
    pub(crate) journal: Option<Journal>,
    pub(crate) tap: Option<Box<dyn Tap>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) board: StatusBoard,
}

/// Driver of one node. Dropping it has the effect of a crash: the gate closes, services are cut off, and the session is
/// neither kept nor closed.
pub(crate) struct Driver {
    // A crash drops the fields in this order.
    gate: Gate,
    services: Services,
    node: Node,
    clock: Arc<dyn Clock>,
    now: Time,
    alarm: Option<(Time, BoxFuture<'static, ()>)>,
    entropy: Box<dyn Entropy>,
    store: Box<dyn Store>,
    /// Progress of closing the session.
    closing: Closing,
    inbox: mpsc::Receiver<Event>,
    orders: mpsc::UnboundedReceiver<Event>,
    members: watch::Sender<Arc<[Member]>>,
    ended: watch::Sender<Option<Outcome>>,
    /// Source that is polled first. They take turns, so that none starves another.
    turn: u8,
    journal: Option<Journal>,
    tap: Option<Box<dyn Tap>>,
    meter: Meter,
    board: StatusBoard,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    No,
    Asked,
    Done,
}

/// Shortest time between an event and the wake after it.
const SHORTEST_SLEEP: Duration = Duration::from_millis(1);
/// Time that the store gets to close the session in good order. After that, the session ends by its timeout.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

impl Driver {
    pub(crate) fn new(parts: Parts) -> Self {
        let services = Services::new(Arc::clone(&parts.clock), parts.service, parts.runtime);
        Self {
            gate: parts.gate,
            services,
            node: parts.node,
            now: parts.clock.now(),
            clock: parts.clock,
            alarm: None,
            entropy: parts.entropy,
            store: parts.store,
            closing: Closing::No,
            inbox: parts.inbox,
            orders: parts.orders,
            members: parts.members,
            ended: parts.ended,
            turn: 0,
            journal: parts.journal,
            tap: parts.tap,
            meter: Meter::new(parts.metrics),
            board: parts.board,
        }
    }

    /// Runs the node to its end.
    pub(crate) async fn run(mut self) -> Outcome {
        let outcome = self.live().await;
        let ended = self.ended.clone();
        self.end(&outcome).await;
        ended.send_replace(Some(outcome.clone()));
        outcome
    }

    async fn live(&mut self) -> Outcome {
        let mut actions = Vec::new();
        loop {
            self.set_alarm();
            let event = poll_fn(|context| self.poll_event(context)).await;
            self.step(event, &mut actions);
            if let Some(outcome) = self.carry_out(&mut actions) {
                return outcome;
            }
        }
    }

    fn set_alarm(&mut self) {
        // Never set it to the instant of the last event: a deadline that an event did not move must not make this task spin.
        let due = self.node.next_deadline().map(|(time, _)| time.max(self.now + SHORTEST_SLEEP));
        let is_late = Mutant::AlarmNotMoved.lives() && self.alarm.is_some();
        if due != self.alarm.as_ref().map(|(time, _)| *time) && !is_late {
            self.alarm = due.map(|time| (time, self.clock.sleep_until(time)));
        }
        self.meter.waits_until(due);
    }

    fn step(&mut self, event: Event, actions: &mut Vec<Action>) {
        self.now = self.clock.now().max(self.now);
        self.meter.event(&event, self.now);
        if let Some(journal) = &mut self.journal {
            journal.before(self.now, self.clock.wall(), &self.node);
        }
        let recorded = (self.journal.is_some() || self.tap.is_some()).then(|| event.clone());
        let before = self.tap.is_some().then(|| self.node.clone());
        self.node.handle(self.now, event, actions);
        self.move_gate(actions);
        if let (Some(tap), Some(event), Some(before)) = (&mut self.tap, &recorded, &before) {
            tap.step(before, self.now, event, actions, &self.node);
        }
        if let (Some(journal), Some(event)) = (&mut self.journal, recorded) {
            journal.step(self.now, &event, actions);
            self.meter.journal(journal.dropped(), journal.failures());
        }
    }

    /// Opens or closes the gate, before any other action is carried out.
    fn move_gate(&mut self, actions: &[Action]) {
        for action in actions {
            if let Action::OpenGate { fence, until } = action {
                let open = self.gate.view().term();
                self.meter.gate_opens(open.filter(|(open, _)| open == fence).map(|(_, left)| left));
                self.gate.open(*fence, *until);
            } else if action.closes_gate() {
                self.meter.gate_closes(actions, self.gate.view().term().is_some());
                self.gate.close();
            }
        }
    }

    fn carry_out(&mut self, actions: &mut Vec<Action>) -> Option<Outcome> {
        let mut outcome = None;
        for action in actions.drain(..) {
            self.meter.action(&action, self.now);
            match action {
                Action::Store { id, request } => self.store.send(id, request),
                Action::OpenGate { .. } | Action::CloseGate => {}
                Action::Floor(_) if Mutant::FloorNotRaised.lives() && self.gate.floor().is_some() => {}
                Action::Floor(fence) => self.gate.raise_floor(fence),
                Action::StartService { run, role: _, fence } => {
                    let (assignment, stop) = self.assign(fence);
                    self.services.start(run, assignment, stop);
                }
                Action::StopService { run, drain_until } => self.services.stop(run, drain_until),
                Action::Announce(announcement) => self.announce(&announcement),
                Action::RenewSession => self.store.renew(),
                Action::StartAfresh(violation) => {
                    tracing::error!(%violation, "a promise was violated; ending the session and starting afresh");
                    self.meter.started_afresh();
                    self.store.renew();
                }

                Action::CloseSession => {
                    self.store.close();
                    self.closing = Closing::Asked;
                }
                Action::Exit => outcome = Some(Outcome::Exited),
                Action::Refuse(objection) => outcome = Some(Outcome::Refused(objection)),
                Action::Halt(violation) => outcome = Some(Outcome::Halted(violation)),
            }
        }
        self.publish();
        outcome
    }

    /// Makes the assignment for leading in the term of `fence`, or for following if there is none.
    fn assign(&mut self, fence: Option<Fence>) -> (Assignment, Stop) {
        match fence {
            Some(fence) => {
                let (term, stop) = self.gate.lead(fence);
                (Assignment::Lead(term), stop)
            }
            None => {
                let (following, stop) = self.gate.follow();
                (Assignment::Follow(following), stop)
            }
        }
    }

    fn publish(&mut self) {
        let leader = self.node.leader();
        self.meter.leader(leader.is_some(), self.now);
        // After its own term a node follows at once, and reads a moment later that its entry is gone.
        let own = &self.node.config().id;
        let is_own = |leader: &Leader| matches!(leader, Leader::Node { id, .. } if id == own);
        let led_by_itself = self.node.role() == Role::Worker && leader.as_ref().is_some_and(is_own);
        self.gate.show_leader(leader.filter(|_| !led_by_itself));
        let failure = self.services.failure();
        self.board.publish(&self.node, self.gate.workers().snapshot(), failure, self.clock.wall());
    }

    fn announce(&self, announcement: &Announcement) {
        match announcement {
            Announcement::Role(role) => tracing::info!(?role, "this node serves"),
            Announcement::Leader(leader) => tracing::info!(?leader, "the leader changed"),
            Announcement::SettingsChanged(settings) => tracing::error!(
                %settings,
                "the settings in the store were changed; this node keeps its own, and nodes that start now are refused"
            ),
            Announcement::Ownerless(candidate) => tracing::warn!(
                sequence = candidate.sequence,
                guid = candidate.guid.map(|guid| format!("{:032x}", guid.0)),
                "a candidate in the election that no session owns is skipped; delete it from the store"
            ),
            Announcement::Members { directory, difference } => {
                tracing::debug!(?directory, ?difference, "members");
                self.show_members();
                match directory {
                    Directory::Workers => self.gate.workers().apply(difference),
                    Directory::Coordinators => {}
                }
            }
        }
    }

    /// Everybody who is listed: those who work, and who leads.
    fn show_members(&self) {
        let mut members = [self.node.workers(), self.node.coordinators()].concat();
        members.sort_by(|one, other| one.key.cmp(&other.key));
        self.members.send_replace(members.into());
    }

    async fn end(mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Exited => tracing::info!("{outcome}"),
            Outcome::Refused(_) | Outcome::Halted(_) => tracing::error!("{outcome}"),
        }
        self.gate.close();
        drop(self.services);
        if self.closing == Closing::Asked {
            let store = &mut self.store;
            let closed = poll_fn(|context| {
                loop {
                    match store.poll_event(context) {
                        Poll::Ready(StoreEvent::Closed) => return Poll::Ready(()),
                        Poll::Ready(_) => {}
                        Poll::Pending => return Poll::Pending,
                    }
                }
            });
            let limit = self.clock.sleep_until(self.clock.now() + CLOSE_LIMIT);
            tokio::select! {
                biased;
                () = closed => {}
                () = limit => tracing::warn!("the store did not close the session in time; it ends by its timeout"),
            }
        }
        if let Some(journal) = self.journal {
            journal.close().await;
        }
    }
}
