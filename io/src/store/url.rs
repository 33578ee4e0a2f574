//! URLs of coordination stores: `memory:`, `zookeeper://host:port,…/chroot` and the like.

mod redis;

use core::fmt;
use core::net::Ipv6Addr;
use core::str::FromStr;
use core::time::Duration;

pub use self::redis::{RedisPlace, RedisUrl};
use rolecall_core::Family;
use rolecall_core::election::Timing;

use super::MemoryStore;

/// URL of a coordination store, as a user writes it.
///
/// ```
/// use rolecall::store::StoreUrl;
///
/// let url: StoreUrl = "zookeeper://zk1,zk2:2182/search".parse()?;
/// assert_eq!(url.to_string(), "zookeeper://zk1:2181,zk2:2182/search");
/// # Ok::<(), rolecall::store::StoreUrlError>(())
/// ```
///
/// [`Display`](fmt::Display) and [`Debug`](fmt::Debug) mask passwords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreUrl {
    /// `memory:`, the embedded store, or `memory:?election=lease`.
    Memory {
        /// Family of its election: [`Family::Queue`] unless the URL says otherwise.
        election: Family,
    },
    /// `zookeeper://host:port[,host:port…][/chroot]`.
    ZooKeeper {
        /// Servers, at least one.
        servers: Vec<ServerAddress>,
        /// Path under which everything is stored, such as `/a/b`; empty for the root.
        chroot: String,
    },
    /// `redis://[[user]:password@]host:port[/db][?wait=N]`, `rediss://…` with TLS, `redis+unix:///path`,
    /// `redis+sentinel://…/name` or `redis+cluster://…`.
    Redis(RedisUrl),
    /// `etcd://host:port[,host:port…]`.
    Etcd {
        /// Servers, at least one.
        servers: Vec<ServerAddress>,
    },
}

impl StoreUrl {
    /// `memory:`.
    pub const MEMORY: Self = Self::Memory { election: Family::Queue };

    /// Scheme of this URL, without the colon.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        match self {
            Self::Memory { .. } => "memory",
            Self::ZooKeeper { .. } => "zookeeper",
            Self::Redis(url) => url.scheme(),
            Self::Etcd { .. } => "etcd",
        }
    }

    /// True for a store inside the user's own process, which nobody outside can read.
    #[must_use]
    pub fn is_embedded(&self) -> bool {
        match self {
            Self::Memory { .. } => true,
            Self::ZooKeeper { .. } | Self::Redis(_) | Self::Etcd { .. } => false,
        }
    }

    /// Tick of the store, if its kind determines it: see [`Config`](rolecall_core::Config).
    #[must_use]
    pub fn tick(&self) -> Option<Duration> {
        match self {
            Self::Memory { election: Family::Queue } => Some(MemoryStore::TICK),
            Self::Memory { .. } | Self::ZooKeeper { .. } | Self::Redis(_) | Self::Etcd { .. } => None,
        }
    }

    /// Family of the store's election.
    #[must_use]
    pub fn family(&self) -> Family {
        match self {
            Self::Memory { election } => *election,
            Self::ZooKeeper { .. } | Self::Etcd { .. } => Family::Queue,
            Self::Redis(_) => Family::Lease,
        }
    }

    /// Times of the store's election, as far as its kind determines them, for [`Config::election`](rolecall_core::Config).
    #[must_use]
    pub fn timing(&self) -> Timing {
        match (self.family(), self.tick()) {
            (Family::Lease, _) => Timing::LEASE,
            (Family::Queue, Some(tick)) => Timing::queue(tick),
            (Family::Queue, None) => Timing::QUEUE,
        }
    }

    /// Refuses a store that is known but has no adapter in this build.
    ///
    /// # Errors
    /// [`StoreUrlError::NotBuilt`], which names the scheme.
    pub fn require_built(&self) -> Result<(), StoreUrlError> {
        let built = match self {
            Self::Memory { .. } => true,
            Self::ZooKeeper { .. } => cfg!(feature = "zookeeper"),
            Self::Redis(_) => cfg!(feature = "redis"),
            Self::Etcd { .. } => false,
        };
        if built { Ok(()) } else { Err(StoreUrlError::NotBuilt { scheme: self.scheme() }) }
    }
}

impl FromStr for StoreUrl {
    type Err = StoreUrlError;

    fn from_str(url: &str) -> Result<Self, StoreUrlError> {
        let Some((scheme, rest)) = url.split_once(':') else { return Err(StoreUrlError::NoScheme) };
        match scheme.to_ascii_lowercase().as_str() {
            "memory" => match rest {
                "" | "?election=queue" => Ok(Self::MEMORY),
                "?election=lease" => Ok(Self::Memory { election: Family::Lease }),
                _ => Err(StoreUrlError::Memory { rest: rest.into() }),
            },
            "zookeeper" => zookeeper(authority("zookeeper", rest)?),
            "redis" => RedisUrl::tcp(authority("redis", rest)?, false).map(Self::Redis),
            "rediss" => RedisUrl::tcp(authority("rediss", rest)?, true).map(Self::Redis),
            "redis+unix" => RedisUrl::unix(authority("redis+unix", rest)?).map(Self::Redis),
            "redis+sentinel" => RedisUrl::sentinel(authority("redis+sentinel", rest)?, false).map(Self::Redis),
            "rediss+sentinel" => RedisUrl::sentinel(authority("rediss+sentinel", rest)?, true).map(Self::Redis),
            "redis+cluster" => RedisUrl::cluster(authority("redis+cluster", rest)?, false).map(Self::Redis),
            "rediss+cluster" => RedisUrl::cluster(authority("rediss+cluster", rest)?, true).map(Self::Redis),
            "etcd" => etcd(authority("etcd", rest)?),
            _ => Err(StoreUrlError::UnknownScheme { scheme: scheme.into() }),
        }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory { election: Family::Queue } => formatter.write_str("memory:"),
            Self::Memory { election } => write!(formatter, "memory:?election={election}"),
            Self::ZooKeeper { servers, chroot } => write!(formatter, "zookeeper://{}{chroot}", List(servers)),
            Self::Redis(url) => url.fmt(formatter),
            Self::Etcd { servers } => write!(formatter, "etcd://{}", List(servers)),
        }
    }
}

/// Address of one server of a store. [`Display`](fmt::Display) writes `host:port`, with an IPv6 address in brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress {
    /// Host name or address, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(formatter, "[{host}]:{port}") } else { write!(formatter, "{host}:{port}") }
    }
}

/// Servers joined by commas.
pub(crate) struct List<'a>(pub(crate) &'a [ServerAddress]);

impl fmt::Display for List<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(index, server)| {
            let comma = if index == 0 { "" } else { "," };
            write!(formatter, "{comma}{server}")
        })
    }
}

/// Password. [`Debug`](fmt::Debug) masks it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}

/// Fault of a store URL. No message shows a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreUrlError {
    /// The scheme is missing.
    #[error("a store URL begins with its scheme; accepted: {ACCEPTED}")]
    NoScheme,
    /// The scheme is unknown.
    #[error("unknown store `{scheme}`; accepted: {ACCEPTED}")]
    UnknownScheme {
        /// The scheme as given.
        scheme: String,
    },
    /// The store is known but has no adapter in this build.
    #[error("store `{scheme}`: not built in this version")]
    NotBuilt {
        /// The scheme.
        scheme: &'static str,
    },
    /// Something follows `memory:`.
    #[error("`{rest}` after `memory:`; accepted: `memory:` alone, or `memory:?election=lease`")]
    Memory {
        /// The text that follows.
        rest: String,
    },
    /// The `//` after the scheme is missing.
    #[error("`{scheme}:` without `//`; accepted: {ACCEPTED}")]
    NoAuthority {
        /// The scheme.
        scheme: &'static str,
    },
    /// A server has no host.
    #[error("server `{server}` has no host; accepted: host, host:port, [IPv6]:port")]
    NoHost {
        /// The server as given.
        server: String,
    },
    /// A host is neither a name nor an address.
    #[error(
        "host `{host}` is neither a name nor an address; accepted: letters, digits, `.`, `-`, `_`, or an IPv6 address in \
         brackets"
    )]
    Host {
        /// The host as given.
        host: String,
    },
    /// A port is not a number from 1 to 65535.
    #[error("port `{port}` of server `{server}` is not a port; accepted: a number from 1 to 65535")]
    Port {
        /// The server as given.
        server: String,
        /// Its port.
        port: String,
    },
    /// A user or a password is given where none is accepted.
    #[error("`{scheme}` URLs take no user and no password before the host; accepted: {ACCEPTED}")]
    User {
        /// The scheme.
        scheme: &'static str,
    },
    /// A user is given for Redis, but no password.
    #[error("user `{user}` without a password; accepted: user:password@host:port, or :password@host:port")]
    NoPassword {
        /// The user as given.
        user: String,
    },
    /// A user or a password for Redis is not UTF-8 once its `%` sequences are decoded.
    #[error(
        "the user or the password has a `%` that begins no encoded character; accepted: `%25` for `%`, `%40` for `@`"
    )]
    Encoding,
    /// The path of a socket is missing.
    #[error("`redis+unix` URLs name a socket; accepted: redis+unix:///path[?db=0&user=…&pass=…&wait=1]")]
    NoSocket,
    /// A parameter is unknown, or has no such value.
    #[error("parameter `{parameter}` is not known, or not with this value; accepted: {accepted}")]
    Parameter {
        /// The parameter, without the value of a password.
        parameter: String,
        /// Parameters that are accepted.
        accepted: &'static str,
    },
    /// The path cannot be a chroot.
    #[error(
        "chroot `{chroot}`: {fault}; accepted: a path such as /search/production, its parts not empty, not `.`, not `..`, \
         without control characters"
    )]
    Chroot {
        /// The chroot as given.
        chroot: String,
        /// Fault of the chroot.
        fault: &'static str,
    },
    /// The database is not a number.
    #[error("database `{database}` is not a number; accepted: a number, such as redis://host:6379/0")]
    Database {
        /// The database as given.
        database: String,
    },
    /// Several servers are given where one is accepted.
    #[error(
        "`redis` URLs take one server, not `{servers}`; accepted for several: redis+sentinel://host:port,…/name, \
         redis+cluster://host:port,…"
    )]
    OneServer {
        /// The servers as given.
        servers: String,
    },
    /// The name of the primary is missing.
    #[error(
        "a sentinel URL names the primary as the sentinels do; accepted: redis+sentinel://host:port[,host:port…]/name[/db]"
    )]
    NoPrimary,
    /// A path is given for a Redis Cluster, which has one database alone.
    #[error("`redis+cluster` URLs take no path, not `{path}`: a cluster has one database")]
    ClusterPath {
        /// The path as given.
        path: String,
    },
    /// A path is given where none is accepted.
    #[error("`etcd` URLs take no path, not `{path}`")]
    EtcdPath {
        /// The path as given.
        path: String,
    },
}

const ACCEPTED: &str = "memory:[?election=lease], zookeeper://host:port[,host:port…][/chroot], redis://[[user]:password@]host:port[/db][?wait=N], \
                        redis+unix:///path, redis+sentinel://host:port[,host:port…]/name, redis+cluster://host:port[,host:port…], \
                        etcd://host:port[,host:port…]";

fn authority<'a>(scheme: &'static str, rest: &'a str) -> Result<&'a str, StoreUrlError> {
    rest.strip_prefix("//").ok_or(StoreUrlError::NoAuthority { scheme })
}

fn zookeeper(rest: &str) -> Result<StoreUrl, StoreUrlError> {
    if rest.contains('@') {
        return Err(StoreUrlError::User { scheme: "zookeeper" });
    }
    let (servers, path) = split_path(rest);
    Ok(StoreUrl::ZooKeeper { servers: servers_of(servers, 2181)?, chroot: chroot(path)? })
}

fn etcd(rest: &str) -> Result<StoreUrl, StoreUrlError> {
    if rest.contains('@') {
        return Err(StoreUrlError::User { scheme: "etcd" });
    }
    let (servers, path) = split_path(rest);
    if !path.is_empty() && path != "/" {
        return Err(StoreUrlError::EtcdPath { path: path.into() });
    }
    Ok(StoreUrl::Etcd { servers: servers_of(servers, 2379)? })
}

fn split_path(rest: &str) -> (&str, &str) {
    rest.split_at(rest.find('/').unwrap_or(rest.len()))
}

fn servers_of(servers: &str, port: u16) -> Result<Vec<ServerAddress>, StoreUrlError> {
    servers.split(',').map(|server| server_of(server, port)).collect()
}

fn server_of(text: &str, default: u16) -> Result<ServerAddress, StoreUrlError> {
    let bad_port = |port: &str| StoreUrlError::Port { server: text.into(), port: port.into() };
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or_else(|| StoreUrlError::Host { host: text.into() })?;
        host.parse::<Ipv6Addr>().map_err(|_| StoreUrlError::Host { host: host.into() })?;
        match rest {
            "" => (host, None),
            _ => (host, Some(rest.strip_prefix(':').ok_or_else(|| bad_port(rest))?)),
        }
    } else {
        match text.split_once(':') {
            None => (text, None),
            Some((host, port)) => (host, Some(port)),
        }
    };
    if host.is_empty() {
        return Err(StoreUrlError::NoHost { server: text.into() });
    }
    if !text.starts_with('[') && !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)) {
        return Err(StoreUrlError::Host { host: host.into() });
    }
    let port = match port {
        None => default,
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            port.parse().ok().filter(|port| *port != 0).ok_or_else(|| bad_port(port))?
        }
        Some(port) => return Err(bad_port(port)),
    };
    Ok(ServerAddress { host: host.into(), port })
}

/// Parses a chroot into the form that is put before a path: empty for the root, else without a trailing slash.
fn chroot(path: &str) -> Result<String, StoreUrlError> {
    let chroot = path.strip_suffix('/').unwrap_or(path);
    let fault = |fault| Err(StoreUrlError::Chroot { chroot: path.into(), fault });
    for part in chroot.split('/').skip(1) {
        match part {
            "" => return fault("an empty part"),
            "." | ".." => return fault("a relative part"),
            _ if part.chars().any(char::is_control) => return fault("a control character"),
            _ => {}
        }
    }
    Ok(chroot.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(url: &str) -> Vec<(String, u16)> {
        let StoreUrl::ZooKeeper { servers, .. } = url.parse().expect(url) else { panic!("{url} is not ZooKeeper's") };
        servers.into_iter().map(|server| (server.host, server.port)).collect()
    }

    #[test]
    fn good_urls_are_written_as_they_are_read() {
        for (url, written) in [
            ("memory:", "memory:"),
            ("MEMORY:", "memory:"),
            ("memory:?election=queue", "memory:"),
            ("memory:?election=lease", "memory:?election=lease"),
            ("zookeeper://a", "zookeeper://a:2181"),
            ("zookeeper://a:1,b,10.0.0.1:3/x/y", "zookeeper://a:1,b:2181,10.0.0.1:3/x/y"),
            ("zookeeper://a/", "zookeeper://a:2181"),
            ("zookeeper://[::1]:2182,[fe80::1]/x", "zookeeper://[::1]:2182,[fe80::1]:2181/x"),
            ("redis://a", "redis://a:6379/0"),
            ("redis://a:1/7", "redis://a:1/7"),
            ("redis://a/", "redis://a:6379/0"),
            ("redis://[::1]", "redis://[::1]:6379/0"),
            ("rediss://a?wait=2", "rediss://a:6379/0?wait=2"),
            ("redis+unix:///run/redis.sock", "redis+unix:///run/redis.sock?db=0"),
            ("redis+unix:///run/redis.sock?wait=1&db=3", "redis+unix:///run/redis.sock?db=3&wait=1"),
            ("redis+sentinel://a,b:1/main", "redis+sentinel://a:26379,b:1/main/0"),
            ("rediss+sentinel://a/my%20main/3?wait=1", "rediss+sentinel://a:26379/my%20main/3?wait=1"),
            ("redis+cluster://a,b:1/", "redis+cluster://a:6379,b:1"),
            ("rediss+cluster://a?wait=1", "rediss+cluster://a:6379?wait=1"),
            ("etcd://a:1,b", "etcd://a:1,b:2379"),
        ] {
            let read: StoreUrl = url.parse().expect(url);
            assert_eq!(read.to_string(), written);
            assert_eq!(written.parse::<StoreUrl>().expect(written), read, "{written} is read as it was written");
        }
    }

    #[test]
    fn the_default_port_and_bracketed_hosts() {
        assert_eq!(servers("zookeeper://a,[::1]:5"), [("a".to_owned(), 2181), ("::1".to_owned(), 5)]);
    }

    #[test]
    fn passwords_are_masked() {
        for (url, written, user, password) in [
            ("redis://:s3cr@t@a:1/2", "redis://:***@a:1/2", None, "s3cr@t"),
            ("rediss://bob:s3cr%40t@a:1", "rediss://bob:***@a:1/0", Some("bob"), "s3cr@t"),
            ("redis+unix:///x?user=bob&pass=s3cr", "redis+unix:///x?db=0&user=bob&pass=***", Some("bob"), "s3cr"),
            ("redis+cluster://:s3cr@a", "redis+cluster://:***@a:6379", None, "s3cr"),
            (
                "redis+sentinel://:s3cr@a/x?sentinel-pass=s3cr",
                "redis+sentinel://:***@a:26379/x/0?sentinel-pass=***",
                None,
                "s3cr",
            ),
        ] {
            let read: StoreUrl = url.parse().expect(url);
            assert_eq!(read.to_string(), written);
            assert!(!format!("{read:?}").contains("s3cr"), "{read:?}");
            let StoreUrl::Redis(read) = read else { panic!("{url} is Redis's") };
            assert_eq!(read.user.as_deref(), user);
            assert_eq!(read.password, Some(Password(password.into())));
        }
    }

    #[test]
    fn stores_without_an_adapter_are_known_but_refused() {
        let url: StoreUrl = "etcd://a:1".parse().expect("a good URL");
        let refused = url.require_built().expect_err("it has no adapter");
        assert_eq!(refused.to_string(), "store `etcd`: not built in this version");
        assert_eq!(StoreUrl::MEMORY.require_built(), Ok(()));
    }

    #[test]
    fn a_url_says_where_its_store_is_and_how_it_elects() {
        for (url, embedded, family) in [
            ("memory:", true, Family::Queue),
            ("memory:?election=lease", true, Family::Lease),
            ("zookeeper://a", false, Family::Queue),
            ("redis://a", false, Family::Lease),
            ("redis+unix:///a", false, Family::Lease),
            ("etcd://a", false, Family::Queue),
        ] {
            let url: StoreUrl = url.parse().expect(url);
            assert_eq!((url.is_embedded(), url.family(), url.timing().family()), (embedded, family, family), "{url}");
        }
    }

    #[test]
    fn bad_urls_name_what_is_wrong_and_what_is_accepted() {
        for (url, named) in [
            ("", "begins with its scheme"),
            ("localhost", "zookeeper://host:port"),
            ("localhost:2181", "unknown store `localhost`"),
            ("consul://a:1", "unknown store `consul`"),
            ("zk://a:1", "unknown store `zk`"),
            ("memory://", "`//` after `memory:`"),
            ("memory:x", "`x` after `memory:`"),
            ("zookeeper:a:1", "`zookeeper:` without `//`"),
            ("zookeeper://", "server `` has no host"),
            ("zookeeper:///x", "server `` has no host"),
            ("zookeeper://a,,b", "server `` has no host"),
            ("zookeeper://a,", "server `` has no host"),
            ("zookeeper://:2181", "server `:2181` has no host"),
            ("zookeeper://a:", "port `` of server `a:`"),
            ("zookeeper://a:0", "port `0` of server `a:0`"),
            ("zookeeper://a:65536", "port `65536` of server"),
            ("zookeeper://a:+1", "port `+1` of server"),
            ("zookeeper://a:x", "port `x` of server `a:x`"),
            ("zookeeper://::1:2181", "server `::1:2181` has no host"),
            ("zookeeper://fe80::1", "port `:1` of server"),
            ("zookeeper://[::1", "host `[::1` is neither"),
            ("zookeeper://[::1]2181", "port `2181` of server"),
            ("zookeeper://[a]:1", "host `a` is neither"),
            ("zookeeper://a b:1", "host `a b` is neither"),
            ("zookeeper://a?x=1", "host `a?x=1` is neither"),
            ("zookeeper://u:p@a:1", "no user and no password"),
            ("zookeeper://a//x", "an empty part"),
            ("zookeeper://a/x//", "an empty part"),
            ("zookeeper://a/./x", "a relative part"),
            ("zookeeper://a/x/..", "a relative part"),
            ("zookeeper://a/x\u{7}", "a control character"),
            ("redis://user@a", "user `user` without a password"),
            ("redis://:secret%zz@a", "begins no encoded character"),
            ("redis://a?wait=0", "parameter `wait=0`"),
            ("redis://a?wait", "parameter `wait`"),
            ("redis://a?protocol=resp2", "parameter `protocol=resp2`"),
            ("redis://a?pass=secret", "parameter `pass=***`"),
            ("redis+unix://", "name a socket"),
            ("redis+unix://a/x", "name a socket"),
            ("redis+unix:///x?db=y", "database `y`"),
            ("redis://a,b", "one server"),
            ("redis+sentinel://a", "names the primary"),
            ("redis+sentinel://a/x/y", "database `y`"),
            ("redis+sentinel://a/x?sentinel_pass=secret", "parameter `sentinel_pass=***`"),
            ("redis+cluster://a/1", "take no path"),
            ("redis://a/x", "database `x`"),
            ("redis://a/-1", "database `-1`"),
            ("etcd://a/x", "no path"),
            ("etcd://u@a", "no user"),
        ] {
            let message = url.parse::<StoreUrl>().expect_err(url).to_string();
            assert!(message.contains(named), "`{url}` gave: {message}");
            assert!(!message.contains("secret"), "`{url}` shows its password: {message}");
        }
    }
}
