//! A proxy that counts what passes between clients and a ZooKeeper server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Type of a ping (ZooDefs.OpCode).
const PING: i32 = 11;
/// Number of a notice in place of a request's (WatcherEvent).
const NOTICE: i32 = -1;

/// Counters of a tap.
#[derive(Debug, Default)]
struct Counters {
    requests: AtomicU64,
    notices: AtomicU64,
}

/// Numbers of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count {
    /// Requests, apart from pings.
    pub(crate) requests: u64,
    /// Notices of watches.
    pub(crate) notices: u64,
}

/// The proxy. Dropping it ends its connections.
#[derive(Debug)]
pub(crate) struct Tap {
    address: SocketAddr,
    counters: Arc<Counters>,
    acceptor: JoinHandle<()>,
}

impl Tap {
    pub(crate) async fn start(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (address, counters) = (listener.local_addr()?, Arc::new(Counters::default()));
        let acceptor = tokio::spawn(accept(listener, server, Arc::clone(&counters)));
        Ok(Self { address, counters, acceptor })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What has passed so far.
    pub(crate) fn count(&self) -> Count {
        Count {
            requests: self.counters.requests.load(Ordering::SeqCst),
            notices: self.counters.notices.load(Ordering::SeqCst),
        }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, counters: Arc<Counters>) {
    while let Ok((client, _)) = listener.accept().await {
        let Ok(server) = TcpStream::connect(server).await else { return };
        drop((client.set_nodelay(true), server.set_nodelay(true)));
        let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
        let (requests, answers) = (Arc::clone(&counters), Arc::clone(&counters));
        // The first message of each side is the handshake. A request's number stands before its type.
        tokio::spawn(pass(from_client, to_server, move |message| {
            if number(message, 4).is_some_and(|kind| kind != PING) {
                requests.requests.fetch_add(1, Ordering::SeqCst);
            }
        }));
        tokio::spawn(pass(from_server, to_client, move |message| {
            if number(message, 0) == Some(NOTICE) {
                answers.notices.fetch_add(1, Ordering::SeqCst);
            }
        }));
    }
}

/// Passes messages on, each with its length before it, and shows all but the first to `count`.
async fn pass(mut source: OwnedReadHalf, mut target: OwnedWriteHalf, count: impl Fn(&[u8])) -> io::Result<()> {
    let mut is_handshake = true;
    loop {
        let length = source.read_u32().await?;
        let mut message = length.to_be_bytes().to_vec();
        (&mut source).take(u64::from(length)).read_to_end(&mut message).await?;
        if !core::mem::take(&mut is_handshake) {
            count(&message[4..]);
        }
        target.write_all(&message).await?;
    }
}

fn number(message: &[u8], start: usize) -> Option<i32> {
    Some(i32::from_be_bytes(message.get(start..start + 4)?.try_into().ok()?))
}
