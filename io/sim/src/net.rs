//! Simulated sockets: turmoil's, which stand still while their host is frozen.

use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::io;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use turmoil::net::{TcpListener, TcpStream};

use super::clock::TrueTime;
use super::freezer::Freezer;
use super::sockets::{Socket, Sockets};
use rolecall::{BoxFuture, Listener, Net, Stream};

/// The sockets of one host.
#[derive(Clone, Debug)]
pub(crate) struct SimNet {
    pub(super) truth: TrueTime,
    pub(super) freezer: Freezer,
    pub(super) sockets: Sockets,
}

impl SimNet {
    /// Sockets of a host that is never paused and never crashes.
    pub(super) fn steady(truth: TrueTime) -> Self {
        Self { truth, freezer: Freezer::default(), sockets: Sockets::default() }
    }

    fn stream(&self, stream: TcpStream) -> Box<dyn Stream> {
        Box::new(Freezing { socket: self.sockets.add(stream), freezer: self.freezer.clone() })
    }
}

impl Net for SimNet {
    fn connect<'a>(&'a self, address: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let begun = self.truth.now();
            match self.freezer.run(TcpStream::connect(address)).await {
                Ok(stream) => Ok(self.stream(stream)),
                // turmoil refuses a connection across a partition at once; in the real world nobody answers.
                Err(_) if self.truth.now() == begun => core::future::pending().await,
                Err(error) => Err(error),
            }
        })
    }

    fn bind<'a>(&'a self, address: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        Box::pin(async move {
            let socket = TcpListener::bind(address).await?;
            let address = socket.local_addr()?.to_string();
            Ok(Box::new(SimListener { socket, address, net: self.clone() }) as Box<dyn Listener>)
        })
    }
}

struct SimListener {
    socket: TcpListener,
    address: String,
    net: SimNet,
}

impl core::fmt::Debug for SimListener {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("SimListener").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Listener for SimListener {
    fn address(&self) -> String {
        self.address.clone()
    }

    fn accept(&mut self) -> BoxFuture<'_, io::Result<(Box<dyn Stream>, String)>> {
        Box::pin(async move {
            let (stream, peer) = self.net.freezer.run(self.socket.accept()).await?;
            Ok((self.net.stream(stream), peer.to_string()))
        })
    }
}

/// A connection that stands still while its host is frozen.
struct Freezing {
    socket: Socket,
    freezer: Freezer,
}

impl AsyncRead for Freezing {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(self.freezer.poll_thawed(context));
        self.socket.with(|stream| Pin::new(stream).poll_read(context, buf))?
    }
}

impl AsyncWrite for Freezing {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.freezer.poll_thawed(context));
        self.socket.with(|stream| Pin::new(stream).poll_write(context, buf))?
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.freezer.poll_thawed(context));
        self.socket.with(|stream| Pin::new(stream).poll_flush(context))?
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.freezer.poll_thawed(context));
        self.socket.with(|stream| Pin::new(stream).poll_shutdown(context))?
    }
}
