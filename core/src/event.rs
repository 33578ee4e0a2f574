//! Events: everything that can happen to a node.

use core::time::Duration;

use crate::store::{Answer, Notice};
use crate::{Fence, OpId, Run, Session};

/// Something that happened in the world. Answers, notices and session events arrive by separate roads, so nothing is
/// assumed about their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Event {
    /// A session is connected: a new one, or the same one again.
    SessionUp {
        /// The session.
        session: Session,
        /// Negotiated timeout of the session.
        timeout: Duration,
        /// Fresh random bits, the source of identifiers and jitter.
        entropy: u64,
    },
    /// The connection is lost; the session may live on.
    Suspended,
    /// The session is over, or nothing can be known of it any more.
    SessionLost,
    /// A request was answered.
    Answered {
        /// Id of the operation.
        id: OpId,
        /// The answer.
        answer: Answer,
    },
    /// A watch fired.
    Noticed {
        /// Id of the request that set the watch.
        id: OpId,
        /// Reason.
        notice: Notice,
    },
    /// A started service serves.
    ServiceStarted {
        /// The life of the service.
        run: Run,
    },
    /// A service could not be started, or ended without being asked to.
    ServiceFailed {
        /// The life of the service.
        run: Run,
    },
    /// A stopped service is gone: its requests in flight are answered or cut off.
    ServiceStopped {
        /// The life of the service.
        run: Run,
    },
    /// Another process showed a fence that is newer than this node's floor; it may be forged.
    FenceSeen {
        /// The fence shown.
        fence: Fence,
    },
    /// An operator asks the leader to give up its term. Other nodes ignore it.
    Resign,
    /// The application wants its node to lead when its turn comes, or no longer wants that. A leader then gives up its
    /// term and its place in the election in good order. A node is willing from its start; one that becomes willing
    /// again enters behind those that already stand.
    Stand {
        /// True if the application wants to lead.
        willing: bool,
    },
    /// This node is asked to end in good order.
    Shutdown,
    /// The driver's timer. It does no harm if it comes early or twice.
    Wake,
}

impl Event {
    /// True for news of the connection or the session. Requests pending before it are not answered any more.
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

    /// Id of the operation that this event answers, or of the request that set its watch; `None` for any other event.
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
