//! What a node wants done.

use alloc::sync::Arc;

use crate::store::Request;
use crate::{Candidate, Difference, Directory, Epoch, Fence, OpId, Role, Time, Violation};

/// One life of a service, from start to end. Counted by the node, never used twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Run(pub u32);

/// An order to the driver. Orders are carried out in the order in which they were given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Action {
    /// Give a request to the store; [`Event::Answered`](crate::Event::Answered) echoes `id`.
    Store {
        /// Its name.
        id: OpId,
        /// What is asked.
        request: Request,
    },
    /// Leader-only acts may begin, carrying `fence`, strictly before `until` on the node's clock. Replaces what held before.
    OpenGate {
        /// The term's token.
        fence: Fence,
        /// The end of its validity.
        until: Time,
    },
    /// No leader-only act may begin any more.
    CloseGate,
    /// Requests of terms older than `0` are to be refused from now on, and those of other incarnations.
    Floor(Fence),
    /// Start the service of a role; answered by [`Event::ServiceStarted`](crate::Event::ServiceStarted) or
    /// [`Event::ServiceFailed`](crate::Event::ServiceFailed).
    StartService {
        /// The life that begins.
        run: Run,
        /// What it serves.
        role: Role,
        /// The token of its term, on a leader.
        fence: Option<Fence>,
    },
    /// Take no new requests, let those in flight end until `drain_until`, cut off the rest, stop; answered by
    /// [`Event::ServiceStopped`](crate::Event::ServiceStopped), also when the application's stop fails.
    StopService {
        /// The life that ends.
        run: Run,
        /// When requests in flight are cut off; a time that is past means at once.
        drain_until: Time,
    },
    /// Tell whoever is interested.
    Announce(Announcement),
    /// The store's session is of no use: drop it and open a new one.
    RenewSession,
    /// A promise of liveness or tidiness is violated: say so loudly, drop the store's session and open a new one.
    StartAfresh(Violation),
    /// End the store's session; everything that lives with it goes at once.
    CloseSession,
    /// The shutdown is complete: the process may end.
    Exit,
    /// The node refuses to go on with this configuration: end with an error. Nothing of others was touched.
    Refuse(Objection),
    /// A promise was violated: close the gate, write the journal, delete nothing, end with 70. Better to die than lie.
    Halt(Violation),
}

impl Action {
    /// True for what a node orders last: nothing more comes of it, and its process ends with all that it serves.
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

    /// True for what ends the permission to begin leader-only acts.
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

/// News for the application and the people who watch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Announcement {
    /// This node serves another role than before.
    Role(Role),
    /// Another node leads than before, or none that is known.
    Leader(Option<Leader>),
    /// A directory changed; one announcement for each snapshot.
    Members {
        /// Which.
        directory: Directory,
        /// How.
        difference: Difference,
    },
    /// Somebody changed the settings in the store under a running cluster. This node goes on with its own; one that starts
    /// refuses.
    SettingsChanged(Arc<str>),
    /// No session owns this candidate: it is skipped, and should be deleted by whoever made it. Said once in a session.
    Ownerless(Candidate),
}

/// Who leads, as far as this node can see.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Leader {
    /// A Rolecall node that serves as coordinator.
    Node {
        /// Its id.
        id: Arc<str>,
        /// Where it answers.
        address: Arc<str>,
        /// Its term's number.
        epoch: Epoch,
    },
    /// A contender of another kind stands first in the queue: no address, no epoch, no promise.
    Foreign {
        /// What its candidate says of it.
        id: Arc<str>,
    },
}

/// Why a node refuses to go on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Objection {
    /// Another live session is registered under this node's id.
    IdentityTaken {
        /// Where that node answers.
        address: Arc<str>,
    },
    /// Nothing is left of the session timeout once the margin is taken off.
    NoValidity {
        /// The timeout that the store granted, in milliseconds.
        timeout_ms: u64,
        /// What has to be set aside, in milliseconds.
        margin_ms: u64,
    },
    /// The cluster was set up with other settings than this node's.
    SettingsDiffer {
        /// This node's.
        ours: Arc<str>,
        /// Those in the store.
        theirs: Arc<str>,
    },
    /// The store does not let this node read or write the settings of the cluster.
    SettingsDenied {
        /// The time for which it has denied them, in milliseconds.
        limit_ms: u64,
    },
}
