//! What happens to a node.

use core::time::Duration;

use crate::store::{Answer, Notice};
use crate::{Fence, OpId, Run, Session};

/// Something that happened in the world. Nothing is assumed about the order of answers, notices and session events: they
/// arrive by separate roads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Event {
    /// A session is connected: a new one, or the same one again.
    SessionUp {
        /// Which.
        session: Session,
        /// The timeout that was negotiated for it.
        timeout: Duration,
        /// Fresh random bits, from which identifiers and jitter are drawn.
        entropy: u64,
    },
    /// The connection is lost; the session may live on.
    Suspended,
    /// The session is over, or nothing can be known of it any more.
    SessionLost,
    /// A request was answered.
    Answered {
        /// Which.
        id: OpId,
        /// How it ended.
        answer: Answer,
    },
    /// A watch fired.
    Noticed {
        /// The request that set it.
        id: OpId,
        /// Why.
        notice: Notice,
    },
    /// A service that was started serves.
    ServiceStarted {
        /// Which run.
        run: Run,
    },
    /// A service could not be started, or ended without being asked to.
    ServiceFailed {
        /// Which run.
        run: Run,
    },
    /// A service that was stopped is gone: its requests in flight are answered or cut off.
    ServiceStopped {
        /// Which run.
        run: Run,
    },
    /// Somebody showed a fencing token that is newer than this node's floor; it may be forged.
    FenceSeen {
        /// What was shown.
        fence: Fence,
    },
    /// An operator asks the leader to give up its term; ignored elsewhere.
    Resign,
    /// The application wants its node to lead when it is its turn, or wants that no more: then a leader gives its term up in
    /// good order, and its place in the election with it. A node is willing from its start on; one that becomes willing again
    /// enters behind those who stand already.
    Stand {
        /// True if it wants to lead.
        willing: bool,
    },
    /// This node is to end, in good order.
    Shutdown,
    /// The driver's timer. Early or twice does no harm.
    Wake,
}

impl Event {
    /// True for what tells of the connection and the session: what was pending before it will not be answered.
    #[must_use]
    pub const fn is_session_news(&self) -> bool {
        match self {
            Self::SessionUp { .. } | Self::Suspended | Self::SessionLost => true,
            Self::Answered { .. }
            | Self::Noticed { .. }
            | Self::ServiceStarted { .. }
            | Self::ServiceFailed { .. }
            | Self::ServiceStopped { .. }
            | Self::FenceSeen { .. }
            | Self::Resign
            | Self::Stand { .. }
            | Self::Shutdown
            | Self::Wake => false,
        }
    }

    /// The operation that this answers or gives notice of; `None` for what no request brought about.
    #[must_use]
    pub const fn operation(&self) -> Option<OpId> {
        match self {
            Self::Answered { id, .. } | Self::Noticed { id, .. } => Some(*id),
            Self::SessionUp { .. }
            | Self::Suspended
            | Self::SessionLost
            | Self::ServiceStarted { .. }
            | Self::ServiceFailed { .. }
            | Self::ServiceStopped { .. }
            | Self::FenceSeen { .. }
            | Self::Resign
            | Self::Stand { .. }
            | Self::Shutdown
            | Self::Wake => None,
        }
    }

    /// Name of this kind of event in metrics; it never changes.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::SessionUp { .. } => "session_up",
            Self::Suspended => "suspended",
            Self::SessionLost => "session_lost",
            Self::Answered { .. } => "answered",
            Self::Noticed { .. } => "noticed",
            Self::ServiceStarted { .. } => "service_started",
            Self::ServiceFailed { .. } => "service_failed",
            Self::ServiceStopped { .. } => "service_stopped",
            Self::FenceSeen { .. } => "fence_seen",
            Self::Resign => "resign",
            Self::Stand { .. } => "stand",
            Self::Shutdown => "shutdown",
            Self::Wake => "wake",
        }
    }
}
