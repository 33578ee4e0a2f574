//! Status of a node, for observers.

use core::time::Duration;
use std::sync::Arc;
use std::time::SystemTime;

use rolecall_core::{Fence, Health, Leader, Node, Role, Session, Snapshot};
use tokio::sync::watch;

use crate::GateView;
use crate::driver::Outcome;
use crate::metrics::Metrics;
use crate::store::{Denial, StoreEvent};

/// Status of a node after its last event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// Time of that event.
    pub as_of: SystemTime,
    /// Role that the node serves. For a leader, [`Observer::term`] says whether the term is valid *now*.
    pub role: Role,
    /// Time since which it serves this role.
    pub role_since: SystemTime,
    /// Fence of the newest term that the node has read about.
    pub floor: Option<Fence>,
    /// Leader as seen by this node.
    pub leader: Option<Leader>,
    /// Workers as last read. Only a leader keeps this list up to date.
    pub workers: Arc<Snapshot>,
    /// Number of entries in the queue that are not candidates, or that no session owns.
    pub skipped_candidates: u32,
    /// Number of entries in the directories that could not be read.
    pub skipped_members: u32,
    /// State of the connection to the store.
    pub store: StoreState,
    /// Time since which it is in that state.
    pub store_since: SystemTime,
    /// Everything that the store denies to this node: an operator has to grant it.
    pub denied: Arc<[Denial]>,
    /// Session with the store.
    pub session: Option<Session>,
    /// Health of the node.
    pub health: Health,
    /// Reason why the service failed to start at the last attempt.
    pub failure: Option<Arc<str>>,
}

/// State of the connection to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreState {
    /// Connected, with a session.
    Connected,
    /// The connection is lost; the session may still be alive.
    Suspended,
    /// No session.
    Lost,
}

impl StoreState {
    /// Name of the state, as `/status` shows it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Suspended => "suspended",
            Self::Lost => "lost",
        }
    }
}

impl Status {
    /// Checks that this node serves its role.
    ///
    /// # Errors
    /// The reason why it does not, for people.
    pub fn ready(&self) -> Result<(), String> {
        if self.health.is_ready() {
            return Ok(());
        }
        if !self.denied.is_empty() {
            let denied: Vec<_> = self.denied.iter().map(ToString::to_string).collect();
            return Err(format!("{}: {}", self.health, denied.join("; ")));
        }
        let may_be_failure = matches!(self.health, Health::Undecided | Health::Failing(_));
        match self.failure.as_ref().filter(|_| may_be_failure) {
            Some(failure) => Err(format!("{}: {failure}", self.health)),
            None => Err(self.health.to_string()),
        }
    }
}

/// Writing end of the status, in the driver.
#[derive(Debug)]
pub(crate) struct StatusBoard {
    current: watch::Sender<Status>,
    store: (StoreState, SystemTime),
}

impl StatusBoard {
    pub(crate) fn new(node: &Node, now: SystemTime) -> Self {
        let status = Status {
            as_of: now,
            role: node.role(),
            role_since: now,
            floor: None,
            leader: None,
            workers: Arc::default(),
            skipped_candidates: 0,
            skipped_members: 0,
            store: StoreState::Lost,
            store_since: now,
            denied: Arc::default(),
            session: None,
            health: node.health(),
            failure: None,
        };
        Self { current: watch::Sender::new(status), store: (StoreState::Lost, now) }
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Status> {
        self.current.subscribe()
    }

    pub(crate) fn store_event(&mut self, event: &StoreEvent, now: SystemTime) {
        let state = match event {
            StoreEvent::Up { .. } => StoreState::Connected,
            StoreEvent::Suspended => StoreState::Suspended,
            StoreEvent::Lost | StoreEvent::Closed => StoreState::Lost,
            StoreEvent::Answered { .. } | StoreEvent::Noticed { .. } | StoreEvent::Denied(_) => return,
        };
        if state != self.store.0 {
            self.store = (state, now);
        }
    }

    /// Shows at once what the store denies: while it does, nothing else may ever happen.
    pub(crate) fn denied(&self, denied: Arc<[Denial]>) {
        self.current.send_modify(|status| status.denied = denied);
    }

    pub(crate) fn publish(&self, node: &Node, workers: Arc<Snapshot>, failure: Option<Arc<str>>, now: SystemTime) {
        let (skipped_candidates, skipped_members) = node.skipped();
        self.current.send_modify(|status| {
            let role = node.role();
            let role_since = if role == status.role { status.role_since } else { now };
            *status = Status {
                as_of: now,
                role,
                role_since,
                floor: node.floor(),
                leader: node.leader(),
                workers,
                skipped_candidates,
                skipped_members,
                store: self.store.0,
                store_since: self.store.1,
                denied: Arc::clone(&status.denied),
                session: node.session().map(|(session, _)| session),
                health: node.health(),
                failure,
            };
        });
    }
}

/// View of a running node, usable from any task without disturbing the node.
#[derive(Clone, Debug)]
pub struct Observer {
    pub(crate) id: Arc<str>,
    pub(crate) status: watch::Receiver<Status>,
    pub(crate) gate: GateView,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) ended: watch::Receiver<Option<Outcome>>,
}

impl Observer {
    /// Id of the node.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Status of the node after its last event.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// Waits until `wanted` accepts the status; `None` if the node ends before.
    pub async fn until(&self, wanted: impl FnMut(&Status) -> bool + Send) -> Option<Status> {
        self.status.clone().wait_for(wanted).await.ok().map(|status| status.clone())
    }

    /// Waits for the end of the node. `None` if it was cut off: it crashed, or was dropped.
    pub async fn ended(&self) -> Option<Outcome> {
        self.ended.clone().wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone())
    }

    /// Term that is valid at this instant, with the time for which it stays valid unless it is renewed. Call this immediately
    /// before saying that the node leads.
    #[must_use]
    pub fn term(&self) -> Option<(Fence, Duration)> {
        self.gate.term()
    }

    /// True while the node's own loop is running. False once it is ten seconds late.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.status.has_changed().is_ok() && self.metrics.is_on_time()
    }

    /// Metrics of the node as Prometheus text.
    #[must_use]
    pub fn metrics(&self) -> String {
        self.metrics.render(&self.status(), self.term().is_some())
    }
}
