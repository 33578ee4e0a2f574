//! What a node tells of itself.

use core::time::Duration;
use std::sync::Arc;
use std::time::SystemTime;

use rolecall_core::{Fence, Health, Leader, Node, Role, Session, Snapshot};
use tokio::sync::watch;

use crate::GateView;
use crate::metrics::Metrics;
use crate::store::StoreEvent;

/// How a node stood after its last event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// When that was.
    pub as_of: SystemTime,
    /// The role that it serves. Whether a leader's term holds *now* is for [`Observer::term`] to say.
    pub role: Role,
    /// Since when.
    pub role_since: SystemTime,
    /// The newest term that it has read of.
    pub floor: Option<Fence>,
    /// Who leads, as far as it can see.
    pub leader: Option<Leader>,
    /// The workers as last read; only a leader follows them.
    pub workers: Arc<Snapshot>,
    /// Names in the queue that are not those of candidates, or of candidates that no session owns.
    pub skipped_candidates: u32,
    /// Entries of the directories that could not be read.
    pub skipped_members: u32,
    /// The connection to the store.
    pub store: StoreState,
    /// Since when it is so.
    pub store_since: SystemTime,
    /// The session with the store.
    pub session: Option<Session>,
    /// Whether it does its part, or why not.
    pub health: Health,
    /// Why its service could not be started when that was last tried.
    pub failure: Option<Arc<str>>,
}

/// The connection to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreState {
    /// There is one.
    Connected,
    /// It is lost; the session may live on.
    Suspended,
    /// There is no session.
    Lost,
}

impl StoreState {
    /// In the words of the status page.
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
    /// Whether this node serves its role.
    ///
    /// # Errors
    /// Why it does not, for people.
    pub fn ready(&self) -> Result<(), String> {
        match self.health {
            Health::Serving | Health::Unregistered => Ok(()),
            Health::NoStore => Err("there is no connection to the store and no role is served".into()),
            Health::IdentityHeld => Err("another session is registered under this node's id".into()),
            Health::Undecided => Err(self.because("the node has no role yet")),
            Health::Changing => Err("the service of a role starts or stops".into()),
            Health::Failing(times) => {
                Err(self.because(&format!("the service of its role could not be started, {times} times")))
            }
            Health::Ending => Err("the node is ending".into()),
        }
    }

    fn because(&self, told: &str) -> String {
        self.failure.as_ref().map_or_else(|| told.to_owned(), |failure| format!("{told}: {failure}"))
    }
}

/// The writing end, in the driver.
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
            StoreEvent::Answered { .. } | StoreEvent::Noticed { .. } => return,
        };
        if state != self.store.0 {
            self.store = (state, now);
        }
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
                session: node.session().map(|(session, _)| session),
                health: node.health(),
                failure,
            };
        });
    }
}

/// Looks at a running node, from any task and without disturbing it.
#[derive(Clone, Debug)]
pub struct Observer {
    pub(crate) status: watch::Receiver<Status>,
    pub(crate) gate: GateView,
    pub(crate) metrics: Arc<Metrics>,
}

impl Observer {
    /// How the node stood after its last event.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// Waits until the status is as `wanted`; `None` where the node ended before.
    pub async fn until(&self, wanted: impl FnMut(&Status) -> bool + Send) -> Option<Status> {
        self.status.clone().wait_for(wanted).await.ok().map(|status| status.clone())
    }

    /// The term that holds at this instant, and how long if it is not renewed. Ask immediately before saying `leader`.
    #[must_use]
    pub fn term(&self) -> Option<(Fence, Duration)> {
        self.gate.term()
    }

    /// Whether the node's own loop goes on; false once it is ten seconds late.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.status.has_changed().is_ok() && self.metrics.is_on_time()
    }

    /// Everything that is counted, as Prometheus text.
    #[must_use]
    pub fn metrics(&self) -> String {
        self.metrics.render(&self.status.borrow(), self.term().is_some())
    }
}
