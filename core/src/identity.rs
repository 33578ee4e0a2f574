//! Search for another live session under this node's id.

use alloc::sync::Arc;
use core::time::Duration;

use crate::rename::{Rename, Renamer, TimeKind};
use crate::{Config, Member, Session, Time, Timer};

/// Result of the search. The directories are read before this node takes any role, and once more after it has
/// registered, since two nodes may start together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    /// The directories were not read yet.
    #[default]
    Unread,
    /// Another session is registered. It may be this node's own former life, whose session lives on for a while.
    Waiting { session: Session, until: Time, again_at: Option<Time> },
    /// No other session is registered, so this node may register.
    Free,
    /// This node has registered; the directories are read once more.
    Registered,
    /// No other session was registered before this node's.
    Proved,
}

/// Entries under this node's id, in fresh readings of both directories.
pub(crate) struct Sight<'a> {
    /// Another session's entry.
    pub(crate) other: Option<&'a Member>,
    /// Revision of this node's own entry.
    pub(crate) own: Option<u64>,
}

impl Identity {
    pub(crate) fn is_free(&self) -> bool {
        match self {
            Self::Free | Self::Registered | Self::Proved => true,
            Self::Unread | Self::Waiting { .. } => false,
        }
    }

    /// True if the directories still matter.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Self::Unread | Self::Waiting { .. } | Self::Registered => true,
            Self::Free | Self::Proved => false,
        }
    }

    /// Notes that this node's entry exists. Returns true if the directories have to be read again.
    pub(crate) fn registered(&mut self) -> bool {
        let first = *self == Self::Free;
        if first {
            *self = Self::Registered;
        }
        first
    }

    /// Applies the passing of time. Returns true if the directories have to be read again.
    pub(crate) fn expire(&mut self, now: Time) -> bool {
        match self {
            Self::Waiting { again_at, .. } => again_at.take_if(|at| *at <= now).is_some(),
            Self::Unread | Self::Free | Self::Registered | Self::Proved => false,
        }
    }

    /// Judges fresh readings. Returns the other node's address if this node has to refuse.
    pub(crate) fn look(
        &mut self,
        now: Time,
        config: &Config,
        own_timeout: Duration,
        sight: &Sight<'_>,
    ) -> Option<Arc<str>> {
        match (&*self, sight.other) {
            (Self::Unread | Self::Waiting { .. }, None) => *self = Self::Free,
            (Self::Registered, None) => *self = Self::Proved,
            (Self::Waiting { session, until, again_at }, Some(other)) if other.key.session == *session => {
                if *until <= now {
                    return Some(Arc::clone(&other.address));
                }
                if again_at.is_none() {
                    *self = Self::wait(now, other.key.session, *until, own_timeout);
                }
            }
            (Self::Unread | Self::Waiting { .. }, Some(other)) => {
                let timeout = other.session_timeout.unwrap_or(own_timeout);
                let until = now + timeout.saturating_add(config.election.rounding(timeout));
                *self = Self::wait(now, other.key.session, until, own_timeout);
            }
            (Self::Registered, Some(other)) => {
                if sight.own.is_some_and(|own| other.created < own) {
                    return Some(Arc::clone(&other.address));
                }
                *self = Self::Proved;
            }
            (Self::Free | Self::Proved, _) => {}
        }
        None
    }

    fn wait(now: Time, session: Session, until: Time, own_timeout: Duration) -> Self {
        let soon = now + (own_timeout / 10).max(Duration::from_millis(1));
        Self::Waiting { session, until, again_at: Some(soon.min(until)) }
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        match self {
            Self::Waiting { again_at, .. } => *again_at,
            Self::Unread | Self::Free | Self::Registered | Self::Proved => None,
        }
    }
}

impl Rename for Identity {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Waiting { session, until, again_at } => {
                renamer.session(session);
                renamer.time(TimeKind::Limit, until);
                if let Some(again_at) = again_at {
                    renamer.time(TimeKind::Deadline(Timer::Identity), again_at);
                }
            }
            Self::Unread | Self::Free | Self::Registered | Self::Proved => {}
        }
    }
}
