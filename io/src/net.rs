//! The seam to sockets.

use core::fmt;
use std::io;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

use crate::BoxFuture;

/// A connection, either end.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Opens connections and listens for them: tokio's sockets, or those of a simulated host.
pub trait Net: fmt::Debug + Send + Sync {
    /// Connects to `address`, `host:port`.
    fn connect<'a>(&'a self, address: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Stream>>>;

    /// Listens at `address`, `host:port`.
    fn bind<'a>(&'a self, address: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>>;
}

/// A listening socket.
pub trait Listener: fmt::Debug + Send {
    /// The address that it listens on, `host:port`, with the port that was chosen for port 0.
    fn address(&self) -> String;

    /// The next connection, and the address of its other end.
    fn accept(&mut self) -> BoxFuture<'_, io::Result<(Box<dyn Stream>, String)>>;
}

/// The sockets of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioNet;

impl Net for TokioNet {
    fn connect<'a>(&'a self, address: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            // Requests are small and wait for their answers: nothing is gained by holding them back.
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
