//! URLs of Redis.

use core::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::{List, Password, ServerAddress, StoreUrlError, server_of, servers_of, split_path};

/// Port of a server, unless the URL names another.
const SERVER_PORT: u16 = 6379;
/// Port of a sentinel, unless the URL names another.
const SENTINEL_PORT: u16 = 26379;

/// URL of a Redis, in one of these forms:
///
/// - `redis://[[user]:password@]host:port[/db][?wait=N]`, one server, or `rediss://…` with TLS;
/// - `redis+unix:///path[?db=N&user=…&pass=…&wait=N]`, a socket of this machine;
/// - `redis+sentinel://[[user]:password@]host:port[,host:port…]/name[/db][?sentinel-pass=…&wait=N]`, the primary that the
///   sentinels know as `name`, or `rediss+sentinel://…` with TLS;
/// - `redis+cluster://[[user]:password@]host:port[,host:port…][?wait=N]`, servers of one Redis Cluster, or `rediss+cluster://…`
///   with TLS.
///
/// User and password may be percent-encoded. [`Display`](fmt::Display) masks the passwords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedisUrl {
    /// Place of the server.
    pub place: RedisPlace,
    /// User to authenticate as. Default: the server's default user.
    pub user: Option<String>,
    /// Password to authenticate with.
    pub password: Option<Password>,
    /// Number of the database.
    pub database: u32,
    /// Number of replicas that have to confirm the write that begins a term.
    pub wait: u32,
}

/// Place of a Redis server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedisPlace {
    /// A server on the network.
    Tcp {
        /// The server.
        server: ServerAddress,
        /// True to use TLS, with the certificates that this machine trusts.
        tls: bool,
    },
    /// A socket on this machine.
    Unix {
        /// Path of the socket.
        path: String,
    },
    /// The primary that sentinels name, which changes when they promote a replica.
    Sentinel {
        /// Sentinels, at least one.
        sentinels: Vec<ServerAddress>,
        /// Name by which they know the primary.
        name: String,
        /// Password of the sentinels, which have a login of their own.
        password: Option<Password>,
        /// True to use TLS, to the sentinels as well.
        tls: bool,
    },
    /// A Redis Cluster, one of whose servers has the keys.
    Cluster {
        /// Servers to ask first, at least one.
        servers: Vec<ServerAddress>,
        /// True to use TLS.
        tls: bool,
    },
}

impl RedisUrl {
    /// Scheme of this URL, without the colon.
    pub(super) const fn scheme(&self) -> &'static str {
        match self.place {
            RedisPlace::Tcp { tls: false, .. } => "redis",
            RedisPlace::Tcp { tls: true, .. } => "rediss",
            RedisPlace::Unix { .. } => "redis+unix",
            RedisPlace::Sentinel { tls: false, .. } => "redis+sentinel",
            RedisPlace::Sentinel { tls: true, .. } => "rediss+sentinel",
            RedisPlace::Cluster { tls: false, .. } => "redis+cluster",
            RedisPlace::Cluster { tls: true, .. } => "rediss+cluster",
        }
    }

    /// True if the server is one of a Redis Cluster.
    #[cfg(feature = "redis")]
    pub(crate) const fn is_cluster(&self) -> bool {
        match self.place {
            RedisPlace::Cluster { .. } => true,
            RedisPlace::Tcp { .. } | RedisPlace::Unix { .. } | RedisPlace::Sentinel { .. } => false,
        }
    }

    pub(super) fn tcp(rest: &str, tls: bool) -> Result<Self, StoreUrlError> {
        let Parts { login, servers, path, query } = Parts::of(rest);
        if servers.contains(',') {
            return Err(StoreUrlError::OneServer { servers: servers.into() });
        }
        let server = server_of(servers, SERVER_PORT)?;
        let database = database(path.strip_prefix('/').unwrap_or(path))?;
        let url = Self::at(RedisPlace::Tcp { server, tls }, login, database)?;
        url.parameters(query, "wait=1, or another number of replicas", |_, _, _| Ok(false))
    }

    pub(super) fn unix(rest: &str) -> Result<Self, StoreUrlError> {
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        if !path.starts_with('/') {
            return Err(StoreUrlError::NoSocket);
        }
        let url = Self::at(RedisPlace::Unix { path: path.into() }, None, 0)?;
        url.parameters(query, "db, user, pass, wait=1 or another number of replicas", |url, name, value| {
            match name {
                "db" => url.database = database(value)?,
                "user" => url.user = Some(decoded(value)?),
                "pass" => url.password = Some(Password(decoded(value)?)),
                _ => return Ok(false),
            }
            Ok(true)
        })
    }

    pub(super) fn sentinel(rest: &str, tls: bool) -> Result<Self, StoreUrlError> {
        let Parts { login, servers, path, query } = Parts::of(rest);
        let sentinels = servers_of(servers, SENTINEL_PORT)?;
        let path = path.strip_prefix('/').unwrap_or(path);
        let (name, number) = path.split_once('/').unwrap_or((path, ""));
        if name.is_empty() {
            return Err(StoreUrlError::NoPrimary);
        }
        let place = RedisPlace::Sentinel { sentinels, name: decoded(name)?, password: None, tls };
        let url = Self::at(place, login, database(number)?)?;
        url.parameters(query, "sentinel-pass, wait=1 or another number of replicas", |url, name, value| {
            let RedisPlace::Sentinel { password, .. } = &mut url.place else { return Ok(false) };
            if name != "sentinel-pass" {
                return Ok(false);
            }
            *password = Some(Password(decoded(value)?));
            Ok(true)
        })
    }

    pub(super) fn cluster(rest: &str, tls: bool) -> Result<Self, StoreUrlError> {
        let Parts { login, servers, path, query } = Parts::of(rest);
        if !path.is_empty() && path != "/" {
            return Err(StoreUrlError::ClusterPath { path: path.into() });
        }
        let url = Self::at(RedisPlace::Cluster { servers: servers_of(servers, SERVER_PORT)?, tls }, login, 0)?;
        url.parameters(query, "wait=1, or another number of replicas", |_, _, _| Ok(false))
    }

    fn at(place: RedisPlace, login: Option<&str>, database: u32) -> Result<Self, StoreUrlError> {
        let (user, password) = login.map_or(Ok((None, None)), credentials)?;
        Ok(Self { place, user, password, database, wait: 0 })
    }

    /// Sets the parameters of a query. `set` does so for those that not all URLs have, and returns false for others.
    fn parameters(
        mut self,
        query: &str,
        accepted: &'static str,
        set: impl Fn(&mut Self, &str, &str) -> Result<bool, StoreUrlError>,
    ) -> Result<Self, StoreUrlError> {
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            match (name, value.parse()) {
                ("wait", Ok(wait)) if wait > 0 => self.wait = wait,
                _ if set(&mut self, name, value)? => {}
                _ => return Err(unknown(name, value, accepted)),
            }
        }
        Ok(self)
    }
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, user, password, database, wait } = self;
        write!(formatter, "{}://", self.scheme())?;
        let user = user.as_deref().map(encoded).unwrap_or_default();
        let mut query = Vec::new();
        if password.is_some() && !matches!(place, RedisPlace::Unix { .. }) {
            write!(formatter, "{user}:***@")?;
        }
        match place {
            RedisPlace::Tcp { server, tls: _ } => write!(formatter, "{server}/{database}")?,
            RedisPlace::Unix { path } => {
                formatter.write_str(path)?;
                query.push(format!("db={database}"));
                if !user.is_empty() {
                    query.push(format!("user={user}"));
                }
                if password.is_some() {
                    query.push("pass=***".into());
                }
            }
            RedisPlace::Sentinel { sentinels, name, password, tls: _ } => {
                write!(formatter, "{}/{}/{database}", List(sentinels), encoded(name))?;
                if password.is_some() {
                    query.push("sentinel-pass=***".into());
                }
            }
            RedisPlace::Cluster { servers, tls: _ } => List(servers).fmt(formatter)?,
        }
        if *wait > 0 {
            query.push(format!("wait={wait}"));
        }
        if query.is_empty() { Ok(()) } else { write!(formatter, "?{}", query.join("&")) }
    }
}

/// Parts of a URL behind its scheme.
struct Parts<'a> {
    login: Option<&'a str>,
    servers: &'a str,
    path: &'a str,
    query: &'a str,
}

impl<'a> Parts<'a> {
    fn of(rest: &'a str) -> Self {
        let (login, rest) = rest.rsplit_once('@').map_or((None, rest), |(login, rest)| (Some(login), rest));
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (servers, path) = split_path(rest);
        Self { login, servers, path, query }
    }
}

fn credentials(login: &str) -> Result<(Option<String>, Option<Password>), StoreUrlError> {
    let Some((user, password)) = login.split_once(':') else {
        return Err(StoreUrlError::NoPassword { user: login.into() });
    };
    let user = if user.is_empty() { None } else { Some(decoded(user)?) };
    Ok((user, Some(Password(decoded(password)?))))
}

/// Number of a database; 0 if none is given.
fn database(number: &str) -> Result<u32, StoreUrlError> {
    if number.is_empty() {
        return Ok(0);
    }
    number.parse().map_err(|_| StoreUrlError::Database { database: number.into() })
}

fn unknown(name: &str, value: &str, accepted: &'static str) -> StoreUrlError {
    let parameter = match (name, value) {
        (_, "") => name.to_owned(),
        (name, _) if name.contains("pass") => format!("{name}=***"),
        _ => format!("{name}={value}"),
    };
    StoreUrlError::Parameter { parameter, accepted }
}

/// Characters that are percent-encoded: all but those that stand for themselves in every part of a URL (RFC 3986, 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Text with its `%` sequences decoded, each of which must be complete.
fn decoded(text: &str) -> Result<String, StoreUrlError> {
    let is_code = |after: &str| after.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    match percent_decode_str(text).decode_utf8() {
        Ok(decoded) if text.split('%').skip(1).all(is_code) => Ok(decoded.into_owned()),
        Ok(_) | Err(_) => Err(StoreUrlError::Encoding),
    }
}
