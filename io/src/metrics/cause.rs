//! Causes for which a term ends.

use rolecall_core::{Action, Event};

/// Cause for which a term of this node ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The node was asked to give the term up.
    Resigned,
    /// The node was asked to end.
    ShutDown,
    /// The application could not be started, or failed.
    ServiceFailed,
    /// No renewal was confirmed within the validity.
    Lapsed,
    /// The connection to the store was lost, and the configuration says to step down at that.
    Suspended,
    /// The store ended the session.
    SessionLost,
    /// The store says that this node's claim is gone, or that a later term has begun.
    Deposed,
    /// The node found a violated promise in itself.
    Violation,
}

impl Cause {
    /// Value of the label `cause`; it never changes.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Resigned => "resigned",
            Self::ShutDown => "shut_down",
            Self::ServiceFailed => "service_failed",
            Self::Lapsed => "lapsed",
            Self::Suspended => "suspended",
            Self::SessionLost => "session_lost",
            Self::Deposed => "deposed",
            Self::Violation => "violation",
        }
    }

    /// Cause of a term's end that `event` asks for, if it does. The term ends later, when the service has stopped.
    pub(super) fn asked(event: &Event) -> Option<Self> {
        match event {
            Event::Resign | Event::Stand { willing: false } => Some(Self::Resigned),
            Event::Shutdown => Some(Self::ShutDown),
            Event::SessionUp { .. }
            | Event::Suspended
            | Event::SessionLost
            | Event::Answered { .. }
            | Event::Noticed { .. }
            | Event::ServiceStarted { .. }
            | Event::ServiceFailed { .. }
            | Event::ServiceStopped { .. }
            | Event::FenceSeen { .. }
            | Event::Stand { willing: true }
            | Event::Wake => None,
        }
    }

    /// Cause of the end of a valid term at `event`; `planned` is what the node was asked for before.
    pub(super) fn of(event: &Event, planned: Option<Self>) -> Self {
        match event {
            Event::SessionUp { .. } | Event::SessionLost => Self::SessionLost,
            Event::Suspended => Self::Suspended,
            Event::Answered { .. } | Event::Noticed { .. } | Event::FenceSeen { .. } => Self::Deposed,
            Event::ServiceStarted { .. }
            | Event::ServiceFailed { .. }
            | Event::ServiceStopped { .. }
            | Event::Resign
            | Event::Stand { .. }
            | Event::Shutdown
            // A lapse is not for this function: the term is valid.
            | Event::Wake => planned.unwrap_or(Self::ServiceFailed),
        }
    }

    /// True for an action of a node that ends its term because it no longer trusts itself.
    pub(super) fn is_violation(action: &Action) -> bool {
        match action {
            Action::Halt(_) | Action::StartAfresh(_) => true,
            Action::Store { .. }
            | Action::OpenGate { .. }
            | Action::CloseGate
            | Action::Floor(_)
            | Action::StartService { .. }
            | Action::StopService { .. }
            | Action::Announce(_)
            | Action::RenewSession
            | Action::CloseSession
            | Action::Exit
            | Action::Refuse(_) => false,
        }
    }
}
