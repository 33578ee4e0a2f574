//! The sessions of clients.

use core::time::Duration;

use super::tree::{Author, Tree};
use super::watch::Watches;
use super::{Client, Output, Server, Sink};
use crate::{Session, Time};

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub(super) enum Standing {
    /// It lives, and its client is connected.
    Connected,
    /// It lives, and its client is not connected.
    Adrift,
    /// It is over, and neither its client nor the server to which that is connected knows.
    Ghost,
}

/// What the store knows of one session, and of its client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Life {
    pub(super) client: Client,
    pub(super) timeout: Duration,
    pub(super) standing: Standing,
    /// The server to which its client is, or was last, connected. Writes that another server holds for it never happen.
    pub(super) server: Server,
    /// When its client was last heard.
    pub(super) heard: Time,
    /// The contact of which the other servers knew then: what counts if its server loses them within half a tick.
    pub(super) told: Time,
    /// The newest revision that its client has seen.
    pub(super) seen: u64,
    pub(super) watches: Watches,
}

impl Life {
    pub(super) fn author(&self, session: Session) -> Author {
        Author { session, client: self.client.clone(), timeout: self.timeout }
    }

    /// Its client lives. Its server tells the others within half a tick.
    pub(super) fn hear(&mut self, now: Time, half_tick: Duration) {
        let told = now - half_tick;
        self.told = if self.heard <= told { self.heard } else { self.told.max(told) };
        self.heard = now;
    }

    /// The others themselves have to do with its client.
    pub(super) const fn meet(&mut self, now: Time) {
        (self.heard, self.told) = (now, now);
    }

    /// Its server loses the others, which know no more than they were told.
    pub(super) fn lose_contact(&mut self, now: Time, half_tick: Duration) {
        if self.heard > now - half_tick {
            self.heard = self.told;
        }
    }

    /// Tells the client of what it watches that changed after revision `since`.
    pub(super) fn notify(&mut self, session: Session, since: u64, tree: &Tree, out: &mut impl Sink) {
        self.watches.fire(since, tree, |id, notice| out.push(Output::Noticed { session, id, notice }));
    }
}
