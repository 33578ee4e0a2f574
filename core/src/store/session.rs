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
    /// When it was heard before that; only a server that is cut off makes it matter.
    pub(super) earlier: Time,
    /// The newest revision that its client has seen.
    pub(super) seen: u64,
    pub(super) watches: Watches,
}

impl Life {
    pub(super) fn author(&self, session: Session) -> Author {
        Author { session, client: self.client.clone(), timeout: self.timeout }
    }

    /// Its client lives.
    pub(super) const fn hear(&mut self, now: Time) {
        (self.earlier, self.heard) = (self.heard, now);
    }

    /// Its server is cut off, and passed on what it heard no later than `known`: older news is all that the others have.
    /// (Where two contacts are younger than that, an older one, which is not kept, is taken to be of that very time.)
    pub(super) fn lose_contact_after(&mut self, known: Time) {
        if self.heard > known {
            self.heard = self.earlier.min(known);
        }
    }

    /// Tells the client of what it watches that changed after revision `since`.
    pub(super) fn notify(&mut self, session: Session, since: u64, tree: &Tree, out: &mut impl Sink) {
        self.watches.fire(since, tree, |id, notice| out.push(Output::Noticed { session, id, notice }));
    }
}
