//! Hosts for which a server answers, so that no web site can read it through a visitor's browser.

use core::net::IpAddr;

use bytes::Bytes;
use http::header::HOST;
use http::uri::Authority;
use http::{Request, Response, StatusCode, Version};

use super::answer::error;

/// Hosts for which a server answers. A request for any other is refused with `421 unknown_host`.
///
/// A web site can point a name of its own at the address of a server inside its visitor's network (DNS rebinding), and then
/// read the server's answers with a script, because to the browser both are one origin. Such a request names the site in
/// its `Host` field. Names of the loopback interface are always answered. Ports are not compared, because a proxy or a
/// container may map them.
///
/// Sources: RFC 9110 (7.2 and 7.4: a server must reject a misdirected request), and Jackson et al., "Protecting Browsers
/// from DNS Rebinding Attacks", 2007.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts(Option<Known>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    names: Vec<String>,
    addresses: Vec<IpAddr>,
    /// True if the server listens on every address of its machine: then any address is taken for one of them. A browser
    /// names an address only if a person or a page did, never because of a rebound name.
    every_address: bool,
}

impl Hosts {
    /// Every host: for servers that no browser can reach.
    #[must_use]
    pub fn any() -> Self {
        Self(None)
    }

    /// The loopback interface, by address and as `localhost`.
    #[must_use]
    pub fn loopback() -> Self {
        Self(Some(Known::default()))
    }

    /// Adds a host: a name, an address, or either with a port (`host:port`), which is ignored. The unspecified addresses
    /// `0.0.0.0` and `[::]` add every address.
    #[must_use]
    pub fn with(mut self, host: &str) -> Self {
        if let Some(known) = &mut self.0 {
            let name = without_port(host);
            match address(name) {
                Some(address) if address.is_unspecified() => known.every_address = true,
                Some(address) => known.addresses.push(address),
                None => known.names.push(canonical(name)),
            }
        }
        self
    }

    /// Refusal of a request that is for no host of these, or `None` if it may be answered.
    pub(super) fn refusal(&self, head: &Request<()>) -> Option<Response<Bytes>> {
        let known = self.0.as_ref()?;
        let malformed = |message: &str| Some(error(StatusCode::BAD_REQUEST, "bad_host", message));
        let mut fields = head.headers().get_all(HOST).iter();
        let field = match (fields.next(), fields.next()) {
            (Some(_), Some(_)) => return malformed("the request has more than one Host field; expected one"),
            (Some(field), None) => match field.to_str() {
                Ok(field) => Some(field),
                Err(_) => return malformed("the request's Host field is not text; expected HOST or HOST:PORT"),
            },
            (None, _) => None,
        };
        // The target of a request to a proxy names a host too, and wins over the field (RFC 9112, 3.2.2).
        let target = head.uri().authority().map(Authority::as_str);
        if field.is_none() && target.is_none() {
            // No browser sends one without, but health checks of the version 1.0 do.
            return if head.version() < Version::HTTP_11 {
                None
            } else {
                malformed("the request has no Host field; expected HOST or HOST:PORT")
            };
        }
        let unknown = field.into_iter().chain(target).find(|host| !known.includes(host))?;
        let message = format!(
            "this node is not known as {:?}; it answers for the addresses that it listens on and advertises, for localhost, \
             and for the hosts that it was told with --allowed-host",
            without_port(unknown)
        );
        Some(error(StatusCode::MISDIRECTED_REQUEST, "unknown_host", &message))
    }
}

impl Known {
    fn includes(&self, host: &str) -> bool {
        let name = without_port(host);
        match address(name) {
            Some(address) => address.is_loopback() || self.every_address || self.addresses.contains(&address),
            None => {
                let name = canonical(name);
                name == "localhost" || self.names.contains(&name)
            }
        }
    }
}

/// The host of `host:port`; `text` if it has no port.
fn without_port(text: &str) -> &str {
    match text.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && is_whole(host) => host,
        Some(_) | None => text,
    }
}

/// False if `host` is the beginning of an IPv6 address.
fn is_whole(host: &str) -> bool {
    !host.contains(':') || host.ends_with(']')
}

fn address(name: &str) -> Option<IpAddr> {
    let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    bare.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

/// A name in small letters, without the dot that marks it as complete.
fn canonical(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(hosts: &Hosts, head: http::request::Builder) -> Option<StatusCode> {
        hosts.refusal(&head.body(()).expect("a well-formed request")).map(|response| response.status())
    }

    fn answers(hosts: &Hosts, host: &str) -> bool {
        match status(hosts, Request::get("/").header(HOST, host)) {
            None => true,
            Some(status) => {
                assert_eq!(status, StatusCode::MISDIRECTED_REQUEST, "{host}");
                false
            }
        }
    }

    #[test]
    fn a_server_answers_for_the_hosts_that_it_was_told() {
        let hosts = Hosts::loopback().with("127.0.0.1:8080").with("Node-A.example:8080").with("[2001:db8::1]:80");
        for host in [
            "127.0.0.1:8080",
            "127.0.0.1",
            "127.8.8.8:1",
            "localhost:8080",
            "LOCALHOST",
            "localhost.",
            "[::1]:8080",
            "[::1]",
            "[::ffff:127.0.0.1]:8080",
            "node-a.example",
            "node-a.example.:9999",
            "[2001:db8::1]",
            "[2001:0db8:0::1]:8080",
        ] {
            assert!(answers(&hosts, host), "{host}");
        }
        for host in [
            "attacker.test",
            "attacker.test:8080",
            "node-a.example.attacker.test",
            "localhost.attacker.test",
            "127.0.0.1.attacker.test:8080",
            "user@127.0.0.1",
            "10.0.0.5:8080",
            "[2001:db8::2]",
            "",
            ":8080",
        ] {
            assert!(!answers(&hosts, host), "{host}");
        }
    }

    #[test]
    fn a_server_on_every_address_answers_for_addresses_but_not_for_names() {
        for all in ["0.0.0.0:8080", "[::]:8080"] {
            let hosts = Hosts::loopback().with(all);
            assert!(answers(&hosts, "10.0.0.5:8080") && answers(&hosts, "[2001:db8::2]:8080"));
            assert!(!answers(&hosts, "attacker.test:8080"));
        }
    }

    #[test]
    fn the_host_in_the_target_counts_as_well() {
        let hosts = Hosts::loopback();
        let to = |target: &str| Request::get(target).header(HOST, "localhost");
        assert_eq!(status(&hosts, to("http://localhost:8080/status")), None);
        assert_eq!(status(&hosts, to("http://attacker.test/status")), Some(StatusCode::MISDIRECTED_REQUEST));
    }

    #[test]
    fn a_request_names_one_host() {
        let hosts = Hosts::loopback();
        let two = Request::get("/").header(HOST, "localhost").header(HOST, "localhost");
        assert_eq!(status(&hosts, two), Some(StatusCode::BAD_REQUEST));
        let garbage = Request::get("/").header(HOST, &b"\xff"[..]);
        assert_eq!(status(&hosts, garbage), Some(StatusCode::BAD_REQUEST));
        assert_eq!(status(&hosts, Request::get("/")), Some(StatusCode::BAD_REQUEST));
        assert_eq!(status(&hosts, Request::get("/").version(Version::HTTP_10)), None);
    }

    #[test]
    fn a_server_for_any_host_refuses_none() {
        assert!(answers(&Hosts::any(), "attacker.test"));
    }
}
