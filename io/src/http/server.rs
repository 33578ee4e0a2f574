//! The listener: accepts for the life of the process, and answers with the slot.

use core::convert::Infallible;
use core::fmt;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::Slot;
use super::connection::{Admission, Connection};
use crate::{BoxFuture, Clock, Listener, Net};

/// Routes that are answered whatever the role and the load.
pub trait Front: fmt::Debug + Send + Sync + 'static {
    /// Answers the request by its head, or leaves it to the role's handler. [`Peer`] is among its extensions.
    fn answer<'a>(&'a self, head: &'a Request<()>) -> BoxFuture<'a, Option<Response<Bytes>>>;
}

/// The other end of a connection, `host:port`; an extension of every request that a handler gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer(pub Arc<str>);

/// How much a server takes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// The largest head of a request, in bytes; more is `431`.
    pub head_bytes: usize,
    /// How long a connection may take to send a head, or be idle, before it is closed.
    pub head_time: Duration,
    /// The largest body of a request, in bytes; more is `413`.
    pub body_bytes: usize,
    /// How long a request may take: `408` while its body is read, `504` after that.
    pub request_time: Duration,
    /// How long a client may take none of an answer before its connection is closed.
    pub write_time: Duration,
    /// Requests at once; more are `503 overloaded`. Those of the [`Front`] don't count.
    pub requests: usize,
    /// Connections at once; more are `503 overloaded` and closed.
    pub connections: usize,
    /// Whether answers carry the time of day. Off in simulations, where it would be that of the real world.
    pub date_header: bool,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            head_bytes: 16 * 1024,
            head_time: Duration::from_secs(15),
            body_bytes: 1024 * 1024,
            request_time: Duration::from_secs(30),
            write_time: Duration::from_secs(15),
            requests: 512,
            connections: 1024,
            date_header: true,
        }
    }
}

/// A listening server. Dropped, it cuts off every connection at once, as a crash would.
#[derive(Debug)]
pub struct Server {
    address: String,
    closing: watch::Sender<bool>,
    accepting: JoinHandle<()>,
    gone: Option<oneshot::Receiver<Infallible>>,
}

/// Dropped in this order, so that whoever waits for the end finds the address free.
struct Listening {
    listener: Box<dyn Listener>,
    _gone: oneshot::Sender<Infallible>,
}

impl Server {
    /// Listens at `address`, `host:port`. What `front` does not answer goes to the handler in `slot`.
    ///
    /// # Errors
    /// The address is in use, not this host's, or malformed.
    pub async fn bind(
        net: &dyn Net,
        clock: Arc<dyn Clock>,
        address: &str,
        slot: Slot,
        front: Option<Arc<dyn Front>>,
        limits: ServerLimits,
    ) -> io::Result<Self> {
        Ok(Self::new(net.bind(address).await?, clock, slot, front, limits))
    }

    /// Answers those who connect to `listener`.
    pub(crate) fn new(
        listener: Box<dyn Listener>,
        clock: Arc<dyn Clock>,
        slot: Slot,
        front: Option<Arc<dyn Front>>,
        limits: ServerLimits,
    ) -> Self {
        let address = listener.address();
        let closing = watch::Sender::new(false);
        let requests = Arc::new(Semaphore::new(limits.requests));
        let connection =
            Connection { clock, slot, front, limits: Arc::new(limits), requests, closing: closing.subscribe() };
        let (sender, gone) = oneshot::channel();
        let accepting = tokio::spawn(accept(Listening { listener, _gone: sender }, connection));
        Self { address, closing, accepting, gone: Some(gone) }
    }

    /// Where it listens, `host:port`, with the port that was chosen for port 0.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Accepts no more and closes each connection after the request that is on it. Ends when all are closed.
    pub async fn close(mut self) {
        self.closed().await;
    }

    /// Does what [`close`](Self::close) does; may be dropped and called again.
    pub(crate) async fn closed(&mut self) {
        self.closing.send_replace(true);
        // Awaited to its end a second time it would panic.
        if !self.accepting.is_finished() {
            drop((&mut self.accepting).await);
        }
    }

    /// Cuts off every connection at once, as a crash would.
    pub(crate) fn cut_off(&mut self) {
        self.accepting.abort();
    }

    /// Ends once nobody listens at the address any more.
    pub(crate) async fn gone(&mut self) {
        if let Some(gone) = self.gone.take() {
            drop(gone.await);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.cut_off();
    }
}

/// Refusals at once; what comes on top of those is dropped without a word.
const REFUSALS: usize = 64;
/// The pause after a failure to accept, which is most often a lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

async fn accept(mut listening: Listening, connection: Connection) {
    let places = Arc::new(Semaphore::new(connection.limits.connections));
    let refusals = Arc::new(Semaphore::new(REFUSALS));
    let mut closing = connection.closing.clone();
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = listening.listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let place = Arc::clone(&places).try_acquire_owned().map(Admission::Serve);
                let Ok(admission) = place.or_else(|_| Arc::clone(&refusals).try_acquire_owned().map(Admission::Refuse))
                else {
                    continue;
                };
                connections.spawn(connection.clone().serve(stream, Peer(peer.into()), admission));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                connection.clock.sleep_until(connection.clock.now() + ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listening);
    while connections.join_next().await.is_some() {}
}
