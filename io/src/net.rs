//! Network: the seam to sockets.

use core::fmt;
use std::io;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

use crate::BoxFuture;

/// Either end of a connection.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Network that opens and accepts connections: tokio's sockets, or those of a simulated host.
pub trait Net: fmt::Debug + Send + Sync {
    /// Connects to `address` (`host:port`).
    fn connect<'a>(&'a self, address: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Stream>>>;

    /// Listens at `address` (`host:port`).
    fn bind<'a>(&'a self, address: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>>;
}

/// Listening socket.
pub trait Listener: fmt::Debug + Send {
    /// Address of the socket, `host:port`. If port 0 was asked for, this is the port that was chosen.
    fn address(&self) -> String;

    /// Waits for the next connection and returns it with the address of its other end.
    fn accept(&mut self) -> BoxFuture<'_, io::Result<(Box<dyn Stream>, String)>>;
}

/// Network of the machine, with tokio's sockets.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioNet;

impl Net for TokioNet {
    fn connect<'a>(&'a self, address: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            // Requests are small and wait for their answers, so holding them back gains nothing.
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        })
    }

    fn bind<'a>(&'a self, address: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        Box::pin(async move {
            let socket = TcpListener::bind(address).await?;
            let address = socket.local_addr()?.to_string();
            Ok(Box::new(TokioListener { socket, address }) as Box<dyn Listener>)
        })
    }
}

#[derive(Debug)]
struct TokioListener {
    socket: TcpListener,
    address: String,
}

impl Listener for TokioListener {
    fn address(&self) -> String {
        self.address.clone()
    }

    fn accept(&mut self) -> BoxFuture<'_, io::Result<(Box<dyn Stream>, String)>> {
        Box::pin(async move {
            let (stream, peer) = self.socket.accept().await?;
            stream.set_nodelay(true)?;
            Ok((Box::new(stream) as Box<dyn Stream>, peer.to_string()))
        })
    }
}
