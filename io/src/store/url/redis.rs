//! URLs of Redis.

use core::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::{Password, ServerAddress, StoreUrlError, server_of, split_path};

/// URL of a Redis: `redis://[[user]:password@]host:port[/db][?wait=N]`, `rediss://…` with TLS, or
/// `redis+unix:///path[?db=N&user=…&pass=…&wait=N]`.
///
/// User and password may be percent-encoded. [`Display`](fmt::Display) masks the password.
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
}

impl RedisUrl {
    /// Scheme of this URL, without the colon.
    pub(super) const fn scheme(&self) -> &'static str {
        match self.place {
            RedisPlace::Tcp { tls: false, .. } => "redis",
            RedisPlace::Tcp { tls: true, .. } => "rediss",
            RedisPlace::Unix { .. } => "redis+unix",
        }
    }

    pub(super) fn tcp(rest: &str, tls: bool) -> Result<Self, StoreUrlError> {
        let (login, rest) = rest.rsplit_once('@').map_or((None, rest), |(login, rest)| (Some(login), rest));
        let (rest, query) = split_query(rest);
        let (server, path) = split_path(rest);
        if server.contains(',') {
            return Err(StoreUrlError::OneServer { servers: server.into() });
        }
        let number = path.strip_prefix('/').unwrap_or(path);
        let (user, password) = login.map_or(Ok((None, None)), credentials)?;
        let database = if number.is_empty() { 0 } else { database(number)? };
        let place = RedisPlace::Tcp { server: server_of(server, 6379)?, tls };
        let mut url = Self { place, user, password, database, wait: 0 };
        for (name, value) in parameters(query) {
            match (name, value.parse()) {
                ("wait", Ok(wait)) if wait > 0 => url.wait = wait,
                _ => return Err(unknown(name, value, "wait=1, or another number of replicas")),
            }
        }
        Ok(url)
    }

    pub(super) fn unix(rest: &str) -> Result<Self, StoreUrlError> {
        let (path, query) = split_query(rest);
        if !path.starts_with('/') {
            return Err(StoreUrlError::NoSocket);
        }
        let place = RedisPlace::Unix { path: path.into() };
        let mut url = Self { place, user: None, password: None, database: 0, wait: 0 };
        for (name, value) in parameters(query) {
            match (name, value.parse()) {
                ("db", _) => url.database = database(value)?,
                ("user", _) => url.user = Some(decoded(value)?),
                ("pass", _) => url.password = Some(Password(decoded(value)?)),
                ("wait", Ok(wait)) if wait > 0 => url.wait = wait,
                _ => return Err(unknown(name, value, "db, user, pass, wait=1 or another number of replicas")),
            }
        }
        Ok(url)
    }
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, user, password, database, wait } = self;
        write!(formatter, "{}://", self.scheme())?;
        let user = user.as_deref().map(encoded).unwrap_or_default();
        match place {
            RedisPlace::Tcp { server, .. } => {
                if password.is_some() {
                    write!(formatter, "{user}:***@")?;
                }
                write!(formatter, "{server}/{database}")?;
                if *wait > 0 { write!(formatter, "?wait={wait}") } else { Ok(()) }
            }
            RedisPlace::Unix { path } => {
                write!(formatter, "{path}?db={database}")?;
                if !user.is_empty() {
                    write!(formatter, "&user={user}")?;
                }
                if password.is_some() {
                    formatter.write_str("&pass=***")?;
                }
                if *wait > 0 { write!(formatter, "&wait={wait}") } else { Ok(()) }
            }
        }
    }
}

fn credentials(login: &str) -> Result<(Option<String>, Option<Password>), StoreUrlError> {
    let Some((user, password)) = login.split_once(':') else {
        return Err(StoreUrlError::NoPassword { user: login.into() });
    };
    let user = if user.is_empty() { None } else { Some(decoded(user)?) };
    Ok((user, Some(Password(decoded(password)?))))
}

fn database(number: &str) -> Result<u32, StoreUrlError> {
    number.parse().map_err(|_| StoreUrlError::Database { database: number.into() })
}

fn split_query(rest: &str) -> (&str, &str) {
    rest.split_once('?').unwrap_or((rest, ""))
}

/// Names and values of a query.
fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts.map(|part| part.split_once('=').unwrap_or((part, "")))
}

fn unknown(name: &str, value: &str, accepted: &'static str) -> StoreUrlError {
    let parameter = match (name, value) {
        (_, "") => name.to_owned(),
        ("pass" | "password", _) => format!("{name}=***"),
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
