//! A SOCKS proxy for one process, with a [`Proxy`] that fails on demand for each destination.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::proxy::Proxy;

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const SUCCEEDED: u8 = 0;
const NOT_ALLOWED: u8 = 2;
const REFUSED: u8 = 5;

/// A SOCKS 5 server (RFC 1928) on `127.0.0.1`, for programs that can make all their connections through one.
///
/// With it a test can cut the link between two processes that know each other by their true addresses, such as servers
/// that announce their own. It connects only to the addresses that it was started for. Dropping it closes everything.
#[derive(Debug)]
pub struct Socks {
    address: SocketAddr,
    routes: Arc<BTreeMap<SocketAddr, Proxy>>,
    acceptor: JoinHandle<()>,
}

impl Socks {
    /// Starts a server that connects to `destinations`.
    ///
    /// # Errors
    /// If it can't listen.
    pub async fn start(destinations: impl IntoIterator<Item = SocketAddr>) -> io::Result<Self> {
        let mut routes = BTreeMap::new();
        for destination in destinations {
            routes.insert(destination, Proxy::start(destination).await?);
        }
        let routes = Arc::new(routes);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let acceptor = tokio::spawn(accept(listener, Arc::clone(&routes)));
        Ok(Self { address, routes, acceptor })
    }

    /// Address of the server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The proxy for all connections to `destination`.
    ///
    /// # Panics
    /// If it was not started for this destination.
    #[must_use]
    pub fn to(&self, destination: SocketAddr) -> &Proxy {
        self.routes.get(&destination).unwrap_or_else(|| panic!("{destination} is no destination"))
    }
}

impl Drop for Socks {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

async fn accept(listener: TcpListener, routes: Arc<BTreeMap<SocketAddr, Proxy>>) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(connection(client, Arc::clone(&routes)));
    }
}

async fn connection(client: TcpStream, routes: Arc<BTreeMap<SocketAddr, Proxy>>) {
    let Ok((mut client, destination)) = asked(client).await else { return };
    let route = routes.get(&destination).map(Proxy::route);
    // Kept any longer, the routes would outlive their owner until open connections end.
    drop(routes);
    let Some(mut route) = route else {
        return drop(answer(&mut client, NOT_ALLOWED).await);
    };
    match route.connect().await {
        Ok(server) => {
            if answer(&mut client, SUCCEEDED).await.is_ok() {
                route.carry(client, server).await;
            }
        }
        Err(_) => drop(answer(&mut client, REFUSED).await),
    }
}

/// Reads the destination that a client asks for.
async fn asked(mut client: TcpStream) -> io::Result<(TcpStream, SocketAddr)> {
    let [version, methods] = read(&mut client).await?;
    let mut offered = vec![0; methods.into()];
    client.read_exact(&mut offered).await?;
    if version != VERSION || !offered.contains(&NO_AUTHENTICATION) {
        return Err(ErrorKind::Unsupported.into());
    }
    client.write_all(&[VERSION, NO_AUTHENTICATION]).await?;
    let [version, command, _, kind] = read(&mut client).await?;
    if (version, command, kind) != (VERSION, CONNECT, IPV4) {
        return Err(ErrorKind::Unsupported.into());
    }
    let host: [u8; 4] = read(&mut client).await?;
    let port = u16::from_be_bytes(read(&mut client).await?);
    Ok((client, (Ipv4Addr::from(host), port).into()))
}

async fn answer(client: &mut TcpStream, outcome: u8) -> io::Result<()> {
    client.write_all(&[VERSION, outcome, 0, IPV4, 0, 0, 0, 0, 0, 0]).await
}

async fn read<const N: usize>(client: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}
