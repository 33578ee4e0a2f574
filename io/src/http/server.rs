//! HTTP server that listens for the life of the process and passes requests to the handler in the slot.

use core::convert::Infallible;
use core::fmt;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::connection::{Admission, Connection};
use super::{HandlerSlot, Hosts};
use crate::{BoxFuture, Clock, Listener, Net};

/// Routes that are answered regardless of role and load.
pub trait Front: fmt::Debug + Send + Sync + 'static {
    /// Answers a request, given its head, or returns `None` to leave it to the role's handler. [`Peer`] is one of the
    /// request's extensions.
    fn answer<'a>(&'a self, head: &'a Request<()>) -> BoxFuture<'a, Option<Response<Bytes>>>;
}

/// Address of the other end of a connection, `host:port`. It is an extension of every request that a handler gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer(pub Arc<str>);

/// Limits of a server. To change one, set its field in [`ServerLimits::default`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerLimits {
    /// Largest head of a request, in bytes; a larger one is answered with `431`. Default: 16 KiB.
    pub head_bytes: usize,
    /// Time for which a connection may take to send a head, or be idle, before it is closed. Default: 15 s.
    pub head_time: Duration,
    /// Largest body of a request, in bytes; a larger one is answered with `413`. Default: 1 MiB.
    pub body_bytes: usize,
    /// Time that a request may take; then it is answered with `408` if its body is still being read, else with `504`.
    /// Default: 30 s.
    pub request_time: Duration,
    /// Time for which a client may read nothing of a response before its connection is closed. Default: 15 s.
    pub write_time: Duration,
    /// Largest number of requests at once; more are answered with `503 overloaded`. Requests answered by the [`Front`] do
    /// not count. Default: 512.
    pub requests: usize,
    /// Largest number of connections at once; more are answered with `503 overloaded` and closed. Default: 1024.
    pub connections: usize,
    /// True if responses carry a `Date` header. Default: true. Simulations turn it off, because the date would be that of
    /// the real world.
    pub date_header: bool,
}

impl ServerLimits {
    /// The same limits, for responses without a `Date` header.
    #[must_use]
    pub fn without_date(self) -> Self {
        Self { date_header: false, ..self }
    }
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

/// Listening server. Dropping it cuts off every connection at once, as a crash would.
#[derive(Debug)]
pub struct Server {
    address: String,
    closing: watch::Sender<bool>,
    accepting: JoinHandle<()>,
    gone: Option<oneshot::Receiver<Infallible>>,
}

/// Listener and the sign that it is gone. They are dropped in this order, so that whoever waits for the sign finds the
/// address free.
struct Listening {
    listener: Box<dyn Listener>,
    _gone: oneshot::Sender<Infallible>,
}

impl Server {
    /// Listens at `address` (`host:port`). Requests that `front` does not answer go to the handler in `slot`. Requests for
    /// other hosts than `hosts` are refused.
    ///
    /// # Errors
    /// If the address is in use, does not belong to this host, or is malformed.
    pub async fn bind(
        net: &dyn Net,
        clock: Arc<dyn Clock>,
        address: &str,
        slot: HandlerSlot,
        front: Option<Arc<dyn Front>>,
        hosts: Hosts,
        limits: ServerLimits,
    ) -> io::Result<Self> {
        Ok(Self::new(net.bind(address).await?, clock, slot, front, hosts, limits))
    }

    /// Answers those who connect to `listener`.
    pub(crate) fn new(
        listener: Box<dyn Listener>,
        clock: Arc<dyn Clock>,
        slot: HandlerSlot,
        front: Option<Arc<dyn Front>>,
        hosts: Hosts,
        limits: ServerLimits,
    ) -> Self {
        let address = listener.address();
        let closing = watch::Sender::new(false);
        let requests = Arc::new(Semaphore::new(limits.requests));
        let connection = Connection {
            clock,
            slot,
            front,
            hosts: Arc::new(hosts),
            limits: Arc::new(limits),
            requests,
            closing: closing.subscribe(),
        };
        let (sender, gone) = oneshot::channel();
        let accepting = tokio::spawn(accept(Listening { listener, _gone: sender }, connection));
        Self { address, closing, accepting, gone: Some(gone) }
    }

    /// Address on which the server listens, `host:port`. If port 0 was asked for, this is the port that was chosen.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Stops accepting and closes each connection after its current request. Returns when all are closed.
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

/// Largest number of connections that are being refused at once. Any more are dropped without an answer.
const REFUSALS: usize = 64;
/// Pause after a failure to accept, which usually means that the process has run out of descriptors.
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
                tracing::warn!(%error, "cannot accept a connection; trying again shortly");
                connection.clock.sleep_until(connection.clock.now() + ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listening);
    while connections.join_next().await.is_some() {}
}
