//! Actions: the orders of a node to its driver.

use alloc::sync::Arc;
use core::fmt;

use crate::store::Request;
use crate::{Candidate, Difference, Directory, Epoch, Fence, OpId, Role, Time, Violation};

/// One life of a service, from start to end. The node counts them and never uses a number twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Run(pub u32);

/// An order to the driver. The driver carries out actions in the order in which it gets them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Action {
    /// Send a request to the store. [`Event::Answered`](crate::Event::Answered) echoes its `id`.
    Store {
        /// Id of the operation.
        id: OpId,
        /// The request.
        request: Request,
    },
    /// Let leader-only acts begin, with `fence`, strictly before `until` on the node's clock. Replaces any earlier
    /// permission.
    OpenGate {
        /// Fence of the term.
        fence: Fence,
        /// End of the term's validity.
        until: Time,
    },
    /// Let no leader-only act begin any more.
    CloseGate,
    /// Refuse requests of terms older than this fence from now on, and those of other incarnations.
    Floor(Fence),
    /// Start the service of a role. Answered by [`Event::ServiceStarted`](crate::Event::ServiceStarted) or
    /// [`Event::ServiceFailed`](crate::Event::ServiceFailed).
    StartService {
        /// The life that begins.
        run: Run,
        /// The role to serve.
        role: Role,
        /// Fence of the term, on a leader.
        fence: Option<Fence>,
    },
    /// Stop a service: take no new requests, let those in flight end until `drain_until`, cut off the rest, and stop.
    /// Answered by [`Event::ServiceStopped`](crate::Event::ServiceStopped), even if the application's stop fails.
    StopService {
        /// The life that ends.
        run: Run,
        /// Time at which requests in flight are cut off; at once if it is past.
        drain_until: Time,
    },
    /// Pass on news to anyone who is interested.
    Announce(Announcement),
    /// Drop the session, which is of no use, and open a new one.
    RenewSession,
    /// Drop the session loudly and open a new one, because a promise of liveness or tidiness is broken.
    StartAfresh(Violation),
    /// End the session. Everything that it owns is deleted at once.
    CloseSession,
    /// End the process: the shutdown is complete.
    Exit,
    /// End with an error: the node refuses to go on with this configuration. It has touched nothing of other nodes.
    Refuse(Objection),
    /// End with exit code 70 because a promise was violated: close the gate, write the journal, delete nothing. Better
    /// to die than lie.
    Halt(Violation),
}

impl Action {
    /// True for the last action of a node. After it the node does nothing, and its process ends with everything that it
    /// serves.
    #[must_use]
    pub const fn ends_node(&self) -> bool {
        match self {
            Self::Exit | Self::Refuse(_) | Self::Halt(_) => true,
            Self::Store { .. }
            | Self::OpenGate { .. }
            | Self::CloseGate
            | Self::Floor(_)
            | Self::StartService { .. }
            | Self::StopService { .. }
            | Self::Announce(_)
            | Self::RenewSession
            | Self::StartAfresh(_)
            | Self::CloseSession => false,
        }
    }

    /// True if no leader-only act may begin after this action.
    #[must_use]
    pub const fn closes_gate(&self) -> bool {
        match self {
            Self::CloseGate | Self::Halt(_) => true,
            Self::Store { .. }
            | Self::OpenGate { .. }
            | Self::Floor(_)
            | Self::StartService { .. }
            | Self::StopService { .. }
            | Self::Announce(_)
            | Self::RenewSession
            | Self::StartAfresh(_)
            | Self::CloseSession
            | Self::Exit
            | Self::Refuse(_) => false,
        }
    }

    /// Name of this kind of action in metrics; it never changes.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Store { .. } => "store",
            Self::OpenGate { .. } => "open_gate",
            Self::CloseGate => "close_gate",
            Self::Floor(_) => "floor",
            Self::StartService { .. } => "start_service",
            Self::StopService { .. } => "stop_service",
            Self::Announce(_) => "announce",
            Self::RenewSession => "renew_session",
            Self::StartAfresh(_) => "start_afresh",
            Self::CloseSession => "close_session",
            Self::Exit => "exit",
            Self::Refuse(_) => "refuse",
            Self::Halt(_) => "halt",
        }
    }
}

/// News for the application and for people who watch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Announcement {
    /// This node serves another role than before.
    Role(Role),
    /// Another node leads than before, or no known node does.
    Leader(Option<Leader>),
    /// A directory changed. There is one announcement for each snapshot.
    Members {
        /// The directory.
        directory: Directory,
        /// The change.
        difference: Difference,
    },
    /// The settings in the store changed under a running cluster. This node goes on with its own; a starting node
    /// refuses.
    SettingsChanged(Arc<str>),
    /// No session owns this candidate. It is skipped, and its author should delete it. Announced once in a session.
    Ownerless(Candidate),
}

/// The leader, as far as this node can see.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Leader {
    /// A Rolecall node that serves as coordinator.
    Node {
        /// Id of the node.
        id: Arc<str>,
        /// Address of the node.
        address: Arc<str>,
        /// Epoch of its term.
        epoch: Epoch,
    },
    /// A contender of another kind that stands first in the queue. It has no address and no epoch, and makes no
    /// promises.
    Foreign {
        /// The candidate's description of itself.
        id: Arc<str>,
    },
}

/// Reason for which a node refuses to go on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Objection {
    /// Another live session is registered under this node's id.
    IdentityTaken {
        /// Address of that node.
        address: Arc<str>,
    },
    /// The margin leaves nothing of the session timeout.
    NoValidity {
        /// Session timeout that the store granted, in milliseconds.
        timeout_ms: u64,
        /// Margin that has to be set aside, in milliseconds.
        margin_ms: u64,
    },
    /// The cluster was set up with other settings than this node's.
    SettingsDiffer {
        /// This node's settings.
        ours: Arc<str>,
        /// The settings in the store.
        theirs: Arc<str>,
    },
    /// The store does not let this node read or write the settings of the cluster.
    SettingsDenied {
        /// Time for which the store has denied them, in milliseconds.
        limit_ms: u64,
    },
}

impl fmt::Display for Objection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IdentityTaken { address } => write!(
                formatter,
                "another live node, at {address}, has the same id as this node: give one of them another id"
            ),
            Self::NoValidity { timeout_ms, margin_ms } => write!(
                formatter,
                "the store grants sessions of {timeout_ms} ms, of which {margin_ms} ms are reserved: too little is left \
                 to lead; ask for a longer session timeout, or configure the store's tick"
            ),
            Self::SettingsDiffer { ours, theirs } => write!(
                formatter,
                "this cluster uses {theirs}, but this node {ours}: start this node with the settings of the cluster"
            ),
            Self::SettingsDenied { limit_ms } => write!(
                formatter,
                "the store has denied access to the settings of the cluster for {limit_ms} ms: allow this node to read \
                 and write them, or delete them if they are not text"
            ),
        }
    }
}

impl core::error::Error for Objection {}
