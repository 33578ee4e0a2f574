//! Adapter for Apache ZooKeeper, 3.5 or later.
//!
//! A separate task owns the client, and with it the session. The `driver` opens one session after another, a `session`
//! serves one from its first connection to its end, and each `request` is a future in it that runs to its end.
//!
//! The adapter adds what the client lacks:
//! - A reconnect counts only once a write on the new connection has shown which session it serves (see `proof`).
//! - Nothing is given to the client while it has no connection, because it would keep the request and send it later.
//! - An answer never overtakes the news that the connection of its request was lost.
//! - Closing a session drops the client and waits for the session's end.
//! - Nothing is repeated, except steps for which a znode must first be created.
//!
//! The layout of the znodes is that of Apache Curator's `LeaderLatch` and service discovery. Under `/rolecall/<cluster>`
//! there are `election/_c_<guid>-latch-<sequence>`, `services/{workers,coordinators}/<id>.<session>`, `term`, `beat`,
//! `settings` and `wish`, and for short moments `probe-<session>`. [`znode`] and [`record`] read and write their names
//! and data; they are public for tests and fuzzers.

mod access;
mod driver;
mod failure;
mod identity;
mod layout;
mod names;
mod proof;
pub mod record;
mod request;
mod session;
mod transaction;
mod watches;
pub mod znode;

use core::task::{Context, Poll};
use std::sync::Arc;

use rolecall_core::store::Request;
use rolecall_core::{Family, OpId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use self::driver::Driver;
use self::identity::Identity;
use self::layout::Layout;
use super::denials::Denials;
use super::url::List;
use super::{Participant, ParticipantError, ServerAddress, Store, StoreEvent};

/// Name under which ZooKeeper knows a client without credentials.
const ANYONE: &str = "a client without credentials (world:anyone)";

/// Command of the store to its task.
#[derive(Debug)]
enum Command {
    Send(OpId, Request),
    Renew,
    Close,
}

/// Connection to ZooKeeper, for one node.
///
/// It tries to connect until it succeeds, and resolves the names of the servers each time. Dropping it ends its session in
/// the background, if there is a connection.
#[derive(Debug)]
pub struct ZooKeeperStore {
    commands: UnboundedSender<Command>,
    events: UnboundedReceiver<StoreEvent>,
}

impl ZooKeeperStore {
    /// Starts to connect to `servers`, which must not be empty, for `participant`. All znodes are under `chroot`, which is
    /// empty or a path.
    ///
    /// # Errors
    /// If `participant` has names or an address that cannot be written into ZooKeeper.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn open(servers: &[ServerAddress], chroot: &str, participant: &Participant) -> Result<Self, ParticipantError> {
        let identity = Arc::new(Identity::new(participant)?);
        let (commands, orders) = unbounded_channel();
        let (reports, events) = unbounded_channel();
        let driver = Driver {
            servers: List(servers).to_string(),
            session_timeout: participant.session_timeout,
            layout: Arc::new(Layout::new(chroot, &participant.cluster)),
            identity,
            denials: Arc::new(Denials::new(ANYONE, reports.clone())),
            commands: orders,
            events: reports,
        };
        tokio::spawn(driver.run());
        Ok(Self { commands, events })
    }

    fn command(&self, command: Command) {
        // The task ends earlier only if it was told to close. After that, nothing is answered any more.
        let _ = self.commands.send(command);
    }
}

impl Store for ZooKeeperStore {
    fn family(&self) -> Family {
        Family::Queue
    }

    fn send(&mut self, id: OpId, request: Request) {
        self.command(Command::Send(id, request));
    }

    fn renew(&mut self) {
        self.command(Command::Renew);
    }

    fn close(&mut self) {
        self.command(Command::Close);
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<StoreEvent> {
        match self.events.poll_recv(context) {
            Poll::Ready(Some(event)) => Poll::Ready(event),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}
