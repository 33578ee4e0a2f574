//! A network that fails on demand: a proxy for one TCP server.

use core::time::Duration;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// Passes connections on to one server, until a test makes it fail.
///
/// Each node of a test gets a proxy of its own, so that one node can lose the store while the others keep it. Every
/// change applies at once, to existing connections as well as to new ones. Dropping the proxy closes everything.
///
/// ```no_run
/// # async fn example(server: std::net::SocketAddr) -> std::io::Result<()> {
/// use rolecall_tests::proxy::{Direction, Proxy};
///
/// let proxy = Proxy::start(server).await?;
/// println!("connect to {}", proxy.address());
/// proxy.cut(); // a partition: both sides hear nothing, and no connection ends
/// proxy.heal(); // what was held goes on
/// proxy.cut_one_way(Direction::ToClient); // requests arrive, answers do not
/// proxy.reset(); // every connection is reset
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    weather: watch::Sender<Weather>,
    accepted: Arc<AtomicUsize>,
    acceptor: JoinHandle<()>,
}

/// Direction of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// Changes the first bytes that a client sends on each connection.
pub type RewriteHello = fn(&mut [u8]);

/// The proxy's behaviour now.
#[derive(Clone, Copy, Debug)]
struct Weather {
    server: SocketAddr,
    to_server_held: bool,
    to_client_held: bool,
    delay: Duration,
    refusing: bool,
    resets: u64,
    rewrite: Option<RewriteHello>,
}

impl Weather {
    fn holds(&self, direction: Direction) -> bool {
        match direction {
            Direction::ToServer => self.to_server_held,
            Direction::ToClient => self.to_client_held,
        }
    }
}

impl Proxy {
    /// Starts a proxy for `server`, on a free port of `127.0.0.1`.
    ///
    /// # Errors
    /// If it can't listen.
    pub async fn start(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (weather, _) = watch::channel(Weather {
            server,
            to_server_held: false,
            to_client_held: false,
            delay: Duration::ZERO,
            refusing: false,
            resets: 0,
            rewrite: None,
        });
        let accepted = Arc::new(AtomicUsize::new(0));
        let acceptor = tokio::spawn(accept(listener, weather.clone(), Arc::clone(&accepted)));
        Ok(Self { address, weather, accepted, acceptor })
    }

    /// Address of the proxy.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Number of connections accepted so far, including refused ones.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Holds all bytes silently, both ways: connections stay open, and new ones are accepted and hear nothing.
    pub fn cut(&self) {
        self.change(|weather| (weather.to_server_held, weather.to_client_held) = (true, true));
    }

    /// Holds the bytes of one direction.
    pub fn cut_one_way(&self, direction: Direction) {
        self.change(|weather| match direction {
            Direction::ToServer => weather.to_server_held = true,
            Direction::ToClient => weather.to_client_held = true,
        });
    }

    /// Passes everything on again, held bytes first, even those of connections that one side has given up meanwhile.
    /// Ends [`cut`](Self::cut), [`cut_one_way`](Self::cut_one_way), [`refuse`](Self::refuse) and
    /// [`delay`](Self::delay).
    pub fn heal(&self) {
        self.change(|weather| {
            (weather.to_server_held, weather.to_client_held) = (false, false);
            (weather.refusing, weather.delay) = (false, Duration::ZERO);
        });
    }

    /// Resets existing connections (RST), and drops the bytes held on them. New ones work as before.
    pub fn reset(&self) {
        self.change(|weather| weather.resets += 1);
    }

    /// Resets new connections as soon as they are made. Existing ones go on.
    pub fn refuse(&self) {
        self.change(|weather| weather.refusing = true);
    }

    /// Delays all bytes by `delay`, each way.
    pub fn delay(&self, delay: Duration) {
        self.change(|weather| weather.delay = delay);
    }

    /// Passes new connections to another server.
    pub fn retarget(&self, server: SocketAddr) {
        self.change(|weather| weather.server = server);
    }

    /// Rewrites the first bytes of each new connection with `rewrite`; `None` ends that.
    pub fn rewrite_hello(&self, rewrite: Option<RewriteHello>) {
        self.change(|weather| weather.rewrite = rewrite);
    }

    /// A route to the server, for a connection that was not made to [`address`](Self::address).
    pub(crate) fn route(&self) -> Route {
        Route::new(self.weather.subscribe())
    }

    fn change(&self, change: impl FnOnce(&mut Weather)) {
        self.weather.send_modify(change);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.acceptor.abort();
        self.reset();
    }
}

async fn accept(listener: TcpListener, weather: watch::Sender<Weather>, accepted: Arc<AtomicUsize>) {
    while let Ok((client, _)) = listener.accept().await {
        accepted.fetch_add(1, Ordering::SeqCst);
        if weather.borrow().refusing {
            let _ = client.set_zero_linger();
        } else {
            tokio::spawn(connection(client, Route::new(weather.subscribe())));
        }
    }
}

async fn connection(client: TcpStream, mut route: Route) {
    match route.connect().await {
        Ok(server) => route.carry(client, server).await,
        Err(_) => drop(client.set_zero_linger()),
    }
}

/// The path of one connection through the proxy.
#[derive(Debug)]
pub(crate) struct Route {
    weather: watch::Receiver<Weather>,
    /// The behaviour at the time the connection was made.
    start: Weather,
}

impl Route {
    fn new(mut weather: watch::Receiver<Weather>) -> Self {
        let start = *weather.borrow_and_update();
        Self { weather, start }
    }

    /// Connects to the server, once traffic towards it passes.
    pub(crate) async fn connect(&mut self) -> io::Result<TcpStream> {
        let reset = self.reset();
        let connect = async {
            released(Direction::ToServer, &mut self.weather).await;
            TcpStream::connect(self.start.server).await
        };
        tokio::select! {
            server = connect => server,
            () = reset => Err(io::ErrorKind::ConnectionReset.into()),
        }
    }

    /// Passes bytes on, each way until its source ends.
    pub(crate) async fn carry(self, mut client: TcpStream, mut server: TcpStream) {
        let reset = self.reset();
        let ended = {
            let (from_client, to_client) = client.split();
            let (from_server, to_server) = server.split();
            let there = copy(Direction::ToServer, from_client, to_server, self.weather.clone(), self.start.rewrite);
            let back = copy(Direction::ToClient, from_server, to_client, self.weather, None);
            tokio::select! {
                // First, so that a reset followed by healing passes nothing on.
                biased;
                () = reset => false,
                ended = async { tokio::try_join!(there, back) } => ended.is_ok(),
            }
        };
        if !ended {
            let _ = client.set_zero_linger();
            let _ = server.set_zero_linger();
        }
    }

    /// Waits until the connection has to be reset.
    fn reset(&self) -> impl Future<Output = ()> + use<> {
        let (mut weather, resets) = (self.weather.clone(), self.start.resets);
        async move {
            drop(weather.wait_for(|weather| weather.resets != resets).await);
        }
    }
}

/// Passes one direction of one connection on, until its source ends.
async fn copy(
    direction: Direction,
    mut source: impl AsyncRead + Unpin,
    mut target: impl AsyncWrite + Unpin,
    mut weather: watch::Receiver<Weather>,
    mut rewrite: Option<RewriteHello>,
) -> io::Result<()> {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let count = source.read(&mut buffer).await?;
        let bytes = &mut buffer[..count];
        if let Some(rewrite) = rewrite.take() {
            rewrite(bytes);
        }
        let delay = weather.borrow().delay;
        sleep(delay).await;
        released(direction, &mut weather).await;
        if count == 0 {
            return target.shutdown().await;
        }
        target.write_all(bytes).await?;
    }
}

async fn released(direction: Direction, weather: &mut watch::Receiver<Weather>) {
    let _ = weather.wait_for(|weather| !weather.holds(direction)).await;
}
