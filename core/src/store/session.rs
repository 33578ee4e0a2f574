//! The sessions of clients.

use core::time::Duration;

use super::lease::Reading;
use super::tree::{Author, Tree};
use super::watch::Watches;
use super::{Client, Output, Server, Sink};
use crate::{Session, Time};

/// State of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub(super) enum Standing {
    /// It lives, and its client is connected.
    Connected,
    /// It lives, but its client is not connected.
    Adrift,
    /// It is over, but neither its client nor the client's server knows.
    Ghost,
}

/// The store's knowledge of one session and its client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Life {
    pub(super) client: Client,
    pub(super) timeout: Duration,
    pub(super) standing: Standing,
    /// The server of the client's current or last connection. Writes that another server holds for it never happen.
    pub(super) server: Server,
    /// Time of the client's last contact.
    pub(super) heard: Time,
    /// Last contact that the other servers know of. It is the one that counts if the server loses them within half a
    /// tick.
    pub(super) told: Time,
    /// Newest revision that the client has seen.
    pub(super) seen: u64,
    pub(super) watches: Watches,
}

impl Life {
    pub(super) fn author(&self, session: Session, reading: Reading) -> Author {
        Author { session, client: self.client.clone(), timeout: self.timeout, reading }
    }

    /// Notes a contact. The client's server tells the others within half a tick.
    pub(super) fn hear(&mut self, now: Time, half_tick: Duration) {
        let told = now - half_tick;
        self.told = if self.heard <= told { self.heard } else { self.told.max(told) };
        self.heard = now;
    }

    /// Notes a contact that the other servers take part in.
    pub(super) const fn meet(&mut self, now: Time) {
        (self.heard, self.told) = (now, now);
    }

    /// Undoes the contacts that the other servers were not told of, when the client's server loses them.
    pub(super) fn lose_contact(&mut self, now: Time, half_tick: Duration) {
        if self.heard > now - half_tick {
            self.heard = self.told;
        }
    }

    /// Notifies the client of watched changes after revision `since`.
    pub(super) fn notify(&mut self, session: Session, since: u64, tree: &Tree, out: &mut impl Sink) {
        self.watches.fire(since, tree, |id, notice| out.push(Output::Noticed { session, id, notice }));
    }
}
