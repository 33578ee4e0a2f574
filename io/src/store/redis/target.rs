//! The way to a server: one that a URL names, that a sentinel names, or to which a Redis Cluster refers.

use std::sync::Arc;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion, PushInfo};
use redis::{RedisConnectionInfo, RedisError};
use tokio::sync::mpsc::UnboundedSender;
use tracing::debug;

use super::failure::Failure;
use super::layout::Layout;
use crate::Net;
use crate::store::{Password, RedisPlace, RedisUrl, ServerAddress};

/// A server, and the way to it.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) url: RedisUrl,
    /// Server to which another one of a cluster has referred us.
    referred: Option<ServerAddress>,
    /// Number of attempts in vain, by which the servers of the URL take turns.
    turn: usize,
    /// Network to connect through. Default: the client's own, which knows TLS and sockets of this machine.
    net: Option<Arc<dyn Net>>,
    pub(super) layout: Arc<Layout>,
}

/// Task that is aborted when this is dropped.
pub(super) struct Aborted(tokio::task::AbortHandle);

impl Drop for Aborted {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Client of a server. The task is that of a client whose network was given.
type Dialled = (MultiplexedConnection, Option<Aborted>);

impl Target {
    pub(super) fn new(url: RedisUrl, net: Option<Arc<dyn Net>>, layout: Layout) -> Self {
        Self { url, referred: None, turn: 0, net, layout: Arc::new(layout) }
    }

    /// Goes to the server that another one has named next.
    pub(super) fn refer(&mut self, address: &str) {
        let split = address.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        if let (Some(server), Some((host, port))) = (self.server(), split) {
            // Without a host it is the same one.
            let host = if host.is_empty() { server.host.clone() } else { host.to_owned() };
            self.referred = Some(ServerAddress { host, port });
        }
    }

    /// Goes to the next of the servers in the URL: the last one was of no use.
    pub(super) fn turn(&mut self) {
        self.referred = None;
        self.turn = self.turn.wrapping_add(1);
    }

    /// The server to connect to, where no sentinel has to be asked for it.
    fn server(&self) -> Option<&ServerAddress> {
        match &self.url.place {
            RedisPlace::Tcp { server, tls: _ } => Some(self.referred.as_ref().unwrap_or(server)),
            RedisPlace::Cluster { servers, tls: _ } => self.referred.as_ref().or_else(|| self.nth(servers)),
            RedisPlace::Unix { .. } | RedisPlace::Sentinel { .. } => None,
        }
    }

    /// The server whose turn it is.
    fn nth<'a>(&self, servers: &'a [ServerAddress]) -> Option<&'a ServerAddress> {
        servers.get(self.turn.checked_rem(servers.len())?)
    }

    /// Connects. What the server tells by itself goes to `pushes`.
    pub(super) async fn dial(&self, pushes: UnboundedSender<PushInfo>) -> Result<Dialled, Failure> {
        let config = patient().set_push_sender(pushes);
        let login = self.login();
        match &self.url.place {
            RedisPlace::Unix { path } => Ok((open(ConnectionAddr::Unix(path.into()), login, &config).await?, None)),
            RedisPlace::Tcp { tls, .. } | RedisPlace::Cluster { tls, .. } => {
                let server = self.server().ok_or_else(no_server)?;
                self.dial_server(server, *tls, login, &config).await
            }
            RedisPlace::Sentinel { sentinels, name, password, tls } => {
                let sentinel = self.nth(sentinels).ok_or_else(no_server)?;
                let primary = self.ask_sentinel(sentinel, name, password.as_ref(), *tls).await?;
                self.dial_server(&primary, *tls, login, &config).await
            }
        }
    }

    async fn dial_server(
        &self,
        server: &ServerAddress,
        tls: bool,
        login: RedisConnectionInfo,
        config: &AsyncConnectionConfig,
    ) -> Result<Dialled, Failure> {
        match &self.net {
            Some(net) if !tls => {
                let stream = net.connect(&server.to_string()).await.map_err(RedisError::from)?;
                let (client, driver) = MultiplexedConnection::new_with_config(&login, stream, config.clone()).await?;
                Ok((client, Some(Aborted(tokio::spawn(driver).abort_handle()))))
            }
            Some(_) | None => {
                let ServerAddress { host, port } = server.clone();
                let address = if tls {
                    provide_cryptography();
                    ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
                } else {
                    ConnectionAddr::Tcp(host, port)
                };
                Ok((open(address, login, config).await?, None))
            }
        }
    }

    /// Asks a sentinel for the primary that it knows under this name.
    async fn ask_sentinel(
        &self,
        sentinel: &ServerAddress,
        name: &str,
        password: Option<&Password>,
        tls: bool,
    ) -> Result<ServerAddress, Failure> {
        let login = RedisConnectionInfo::default();
        let login = match password {
            Some(password) => login.set_password(&password.0),
            None => login,
        };
        let (mut client, _task) = self.dial_server(sentinel, tls, login, &patient()).await?;
        let mut ask = redis::cmd("SENTINEL");
        ask.arg("GET-MASTER-ADDR-BY-NAME").arg(name);
        let primary: Option<(String, u16)> = ask.query_async(&mut client).await?;
        debug!(%sentinel, name, ?primary, "a sentinel names the primary");
        let Some((host, port)) = primary else {
            let reason = format!("the sentinel at {sentinel} knows no primary called `{name}`");
            return Err(Failure::Useless { refused: true, reason });
        };
        Ok(ServerAddress { host, port })
    }

    fn login(&self) -> RedisConnectionInfo {
        let info = RedisConnectionInfo::default()
            .set_protocol(ProtocolVersion::RESP3)
            .set_lib_name("rolecall", env!("CARGO_PKG_VERSION"))
            .set_db(self.url.database.into());
        let info = match &self.url.password {
            Some(password) => info.set_password(&password.0),
            None => info,
        };
        match &self.url.user {
            Some(user) => info.set_username(user),
            None => info,
        }
    }
}

/// Settings of a client that sets no limits of its own: whoever connects has a deadline for everything.
fn patient() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None)
}

async fn open(
    address: ConnectionAddr,
    login: RedisConnectionInfo,
    config: &AsyncConnectionConfig,
) -> Result<MultiplexedConnection, RedisError> {
    let info = address.into_connection_info()?.set_redis_settings(login);
    Client::open(info)?.get_multiplexed_async_connection_with_config(config).await
}

/// The parser accepts no URL without a server, but a program can make one.
fn no_server() -> Failure {
    Failure::Useless { refused: true, reason: "the URL names no server".into() }
}

/// Installs a provider of cryptography, unless the program has chosen one.
fn provide_cryptography() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have installed one meanwhile, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}
