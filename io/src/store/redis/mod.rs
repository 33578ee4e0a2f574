//! Adapter for Redis, 6.2 or later, and what is compatible with it, such as Valkey.
//!
//! A separate task owns the connection and keeps the session: an identity that the adapter makes up, with an end that the
//! server keeps as data. A `session` lives over one `connection` after the other, and each `request` is one script: a
//! transaction on the server.
//!
//! # Layout
//! All keys of a cluster begin with `rolecall:{<cluster>}:` and share that hash tag. `{`, `}` and `%` in the cluster's name
//! are percent-encoded.
//!
//! | key | type | content |
//! | --- | --- | --- |
//! | `store` | hash | `clock` (the store's clock in ms) and `wall` (the server's at the last call), `run` and `replication` (whose life it is), `born` (the clock when that life began), `incarnation`, `epoch`, `created` (revision of the newest member), `longest` (lease ever asked for, in ms) |
//! | `lease` | hash | `token`, `session`, `id` of the holder, `epoch`, `ttl` and `ends` (in ms of the store's clock) |
//! | `term` | hash | the latest term: `incarnation`, `epoch`, `id` and `address` of its leader |
//! | `sessions` | sorted set | living sessions by the end that they have, unless they are heard |
//! | `links` | hash | the newest connection of each session |
//! | `workers`, `coordinators` | hash | members by session, as JSON (see [`record`]) |
//! | `settings` | string | the cluster's settings |
//! | `wish` | hash | an operator's wish: `version` (number of writes so far) and `data`, as JSON |
//! | `trial` | any | permissions are tried out on it; it is gone at once |
//!
//! Sessions, tokens and incarnations are 16 hexadecimal digits. Changes are published on the channel `changes` under the
//! same prefix: `released` (the lease), `workers <session>`, `coordinators <session>`, `wish`. They are hints: whoever
//! connects reads everything again.
//!
//! # Time
//! Native times to live follow the server's wall clock, which steps. So no key has one: ends are data, judged inside the
//! scripts on a clock of their own. The server's wall clock drives it, but it never goes back, and never on by more than a
//! quarter of the lease between two calls, or of the caller's session if that is shorter. Sessions are kept alive every sixth of their timeout, so there are calls enough.
//! Each script first ends the sessions that are over.
//!
//! # Restarts and replicas
//! A restarted server, or a promoted replica, may lack the last writes of the one before. Each script compares the server's
//! run id and replication id with those of the record. Where they tell another life, the lease is deleted, the next term
//! begins a new incarnation, and nobody leads before the longest lease ever asked for has passed. So the first election ever
//! on a server waits for one lease, too: nobody can tell a new server from one that was emptied. What is left open: two
//! servers that both believe to be the primary (a partition between them) each know a leader for as long as the old one's
//! clients reach it. `?wait=N` makes a term count only once N replicas know of it, and the order of epochs within an
//! incarnation tells the newer of two leaders.
//!
//! # Server errors
//! Nothing was done: `READONLY`, `LOADING`, `CLUSTERDOWN`, `MASTERDOWN`, `TRYAGAIN` (another connection is opened), `MOVED`
//! (to the server that it names), `NOPERM`, `NOAUTH`, `WRONGPASS` (which an operator has to mend), `OOM`, `MISCONF`, `BUSY`,
//! `NOREPLICAS` (the request is refused). `NOSCRIPT`: the script's text is sent, within the same time. Everything else may
//! have been done. A connection that gives no answer within a quarter of the session's timeout is given up; once the next
//! one is open, scripts that were sent before do nothing.

mod check;
mod connection;
mod driver;
mod failure;
mod layout;
pub mod record;
mod request;
mod script;
mod session;
mod target;
mod watches;

use core::task::{Context, Poll};
use std::sync::Arc;

use rolecall_core::store::Request;
use rolecall_core::{Family, OpId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub use self::check::check;
use self::driver::Driver;
use self::layout::Layout;
pub use self::layout::directory_name;
use self::target::Target;
use super::denials::Denials;
use super::{Participant, ParticipantError, RedisUrl, Store, StoreEvent};
use crate::{Entropy, Net, OsEntropy};

/// Command of the store to its task.
#[derive(Debug)]
enum Command {
    Send(OpId, Request),
    Renew,
    Close,
}

/// Connection to Redis, for one node.
///
/// It tries to connect until it succeeds. Dropping it ends its session in the background, if there is a connection.
#[derive(Debug)]
pub struct RedisStore {
    commands: UnboundedSender<Command>,
    events: UnboundedReceiver<StoreEvent>,
}

impl RedisStore {
    /// Starts to connect to the server for `participant`.
    ///
    /// # Errors
    /// If `participant` has names or an address that no store can keep.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn open(url: &RedisUrl, participant: &Participant) -> Result<Self, ParticipantError> {
        Self::start(url, participant, None, Box::new(OsEntropy))
    }

    /// Starts to connect through a given network, such as a simulated one, without TLS. `entropy` makes up the sessions'
    /// numbers.
    ///
    /// # Errors
    /// If `participant` has names or an address that no store can keep.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn open_through(
        net: Arc<dyn Net>,
        entropy: Box<dyn Entropy>,
        url: &RedisUrl,
        participant: &Participant,
    ) -> Result<Self, ParticipantError> {
        Self::start(url, participant, Some(net), entropy)
    }

    fn start(
        url: &RedisUrl,
        participant: &Participant,
        net: Option<Arc<dyn Net>>,
        entropy: Box<dyn Entropy>,
    ) -> Result<Self, ParticipantError> {
        participant.check()?;
        let (commands, orders) = unbounded_channel();
        let (reports, events) = unbounded_channel();
        let target = Target::new(url.clone(), net, Layout::new(&participant.cluster));
        let user = url.user.as_ref().map_or_else(|| "the default user".to_owned(), |user| format!("user {user}"));
        let denials = Denials::new(user, reports.clone());
        let participant = Arc::new(participant.clone());
        tokio::spawn(Driver { target, participant, denials, entropy, commands: orders, events: reports }.run());
        Ok(Self { commands, events })
    }

    fn command(&self, command: Command) {
        // The task ends earlier only if it was told to close. After that, nothing is answered any more.
        let _ = self.commands.send(command);
    }
}

impl Store for RedisStore {
    fn family(&self) -> Family {
        Family::Lease
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
