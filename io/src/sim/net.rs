//! Simulated sockets: turmoil's, which stand still while their host is frozen.

use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::io;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use turmoil::net::{TcpListener, TcpStream};

use super::clock::TrueTime;
use super::freezer::Freezer;
use crate::{BoxFuture, Listener, Net, Stream};

/// The sockets of one host.
#[derive(Clone, Debug)]
pub(crate) struct SimNet {
    pub(super) truth: TrueTime,
    pub(super) freezer: Freezer,
}

impl Net for SimNet {
    fn connect<'a>(&'a self, address: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let begun = self.truth.now();
            match self.freezer.run(TcpStream::connect(address)).await {
                Ok(stream) => Ok(Box::new(Freezing { stream, freezer: self.freezer.clone() }) as Box<dyn Stream>),
                // turmoil refuses across a partition without a look at the time; in the world nobody answers.
                Err(_) if self.truth.now() == begun => core::future::pending().await,
                Err(error) => Err(error),
            }
        })
    }

    fn bind<'a>(&'a self, address: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        Box::pin(async move {
            let socket = TcpListener::bind(address).await?;
            let address = socket.local_addr()?.to_string();
            Ok(Box::new(SimListener { socket, address, freezer: self.freezer.clone() }) as Box<dyn Listener>)
        })
    }
}

struct SimListener {
    socket: TcpListener,
    address: String,
    freezer: Freezer,
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
            let (stream, peer) = self.freezer.run(self.socket.accept()).await?;
            Ok((Box::new(Freezing { stream, freezer: self.freezer.clone() }) as Box<dyn Stream>, peer.to_string()))
        })
    }
}

/// A connection that stands still while its host is frozen.
struct Freezing {
    stream: TcpStream,
    freezer: Freezer,
}

impl AsyncRead for Freezing {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(self.freezer.poll_thawed(context));
        Pin::new(&mut self.stream).poll_read(context, buf)
    }
}

impl AsyncWrite for Freezing {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.freezer.poll_thawed(context));
        Pin::new(&mut self.stream).poll_write(context, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.freezer.poll_thawed(context));
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.freezer.poll_thawed(context));
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
