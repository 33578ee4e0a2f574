//! Values of options. Each error says what is accepted.

use core::fmt;
use core::ops::RangeInclusive;
use core::str::FromStr;
use core::time::Duration;

use bytesize::ByteSize;
use jiff::SignedDuration;

/// Parses a length of time such as `500ms`, `10s`, `2m` or `1h30m`, in whole milliseconds. Zero is refused.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let accepted = || "expected a number with a unit, such as 500ms, 10s, 2m or 1h".to_owned();
    let length: SignedDuration = text.parse().map_err(|_| accepted())?;
    if length.is_negative() {
        return Err(accepted());
    }
    if length.is_zero() || length > SignedDuration::from_hours(365 * 24) {
        return Err("expected more than zero and at most a year".to_owned());
    }
    let length = length.unsigned_abs();
    if length.subsec_nanos().is_multiple_of(1_000_000) {
        Ok(length)
    } else {
        Err("expected whole milliseconds".to_owned())
    }
}

/// Largest error in the rate of a clock, a percentage from `0%` to `10%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockError {
    /// The error in parts per million.
    pub ppm: u32,
}

impl FromStr for ClockError {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let accepted = || "expected a percentage from 0% to 10%, such as 1% or 0.05%".to_owned();
        let number = text.strip_suffix('%').ok_or_else(accepted)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) || fraction.len() > 4 || number.ends_with('.')
        {
            return Err(accepted());
        }
        let ppm = format!("{whole}{fraction:0<4}").parse().map_err(|_| accepted())?;
        if ppm <= 100_000 { Ok(Self { ppm }) } else { Err(accepted()) }
    }
}

/// Address on which a node listens or is reached, `HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Host name, IPv4 address, or IPv6 address in brackets.
    pub host: String,
    /// Port; with 0 the system chooses one.
    pub port: u16,
}

impl Address {
    /// True if only this machine can connect to the host.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost")
            || self.ip().is_some_and(|address| address.to_canonical().is_loopback())
    }

    /// True if the host means every address of the machine, to which others cannot connect.
    #[must_use]
    pub fn is_unspecified(&self) -> bool {
        self.ip().is_some_and(|address| address.is_unspecified())
    }

    /// The host, if it is an IP address.
    fn ip(&self) -> Option<std::net::IpAddr> {
        self.host.trim_start_matches('[').trim_end_matches(']').parse().ok()
    }
}

/// Host without a port: a name, an IPv4 address, or an IPv6 address in brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host(pub String);

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if is_host(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err("expected a host without a port, such as search.example, 10.0.0.5 or [2001:db8::1]".to_owned())
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let accepted = || "expected HOST:PORT, such as 127.0.0.1:8080, node-1.example:8080 or [::1]:8080".to_owned();
        let (host, port) = text.rsplit_once(':').ok_or_else(accepted)?;
        let port = port.parse().map_err(|_| accepted())?;
        if is_host(host) { Ok(Self { host: host.to_owned(), port }) } else { Err(accepted()) }
    }
}

/// True if `text` is a host name, an IPv4 address or an IPv6 address in brackets.
pub(super) fn is_host(text: &str) -> bool {
    if let Some(inner) = text.strip_prefix('[') {
        return inner.strip_suffix(']').is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok());
    }
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

/// Name of a node or a cluster. It becomes part of paths in the store, folders and URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(pub String);

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fits = (1..=100).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
            && text.starts_with(|first: char| first.is_ascii_alphanumeric());
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err("expected 1 to 100 of the characters A-Z a-z 0-9 - _ . beginning with a letter or a digit".to_owned())
        }
    }
}

/// Seeds of simulations: one such as `7`, or a range such as `1..100`, including the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(pub RangeInclusive<u64>);

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let accepted = |_| "expected one seed or a range, such as 7 or 1..100".to_owned();
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let seeds = first.parse().map_err(accepted)?..=last.parse().map_err(accepted)?;
        if seeds.is_empty() {
            Err("expected a range whose first seed is not above its last".to_owned())
        } else {
            Ok(Self(seeds))
        }
    }
}

/// Amount of memory such as `512MiB` or `4GiB`. Zero is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory(pub ByteSize);

impl fmt::Display for Memory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = text.parse().ok().filter(|size: &ByteSize| size.as_u64() > 0);
        size.map(Self).ok_or_else(|| "expected a number with a unit, such as 512MiB or 4GiB".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1_500)));
        for bad in [
            "",
            "10",
            "s",
            "-1s",
            "1s ago",
            "10x",
            "2M",
            "1mo",
            "0s",
            "0.5ms",
            "99999999999999999999s",
            "18446744073709551615h",
            "9000h",
        ] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_clock_error_is_a_small_percentage() {
        let ppm = |text: &str| text.parse::<ClockError>().map(|error| error.ppm);
        assert_eq!(ppm("1%"), Ok(10_000));
        assert_eq!(ppm("0.05%"), Ok(500));
        assert_eq!(ppm("0%"), Ok(0));
        assert_eq!(ppm("10%"), Ok(100_000));
        for bad in ["", "%", "1", "11%", "-1%", "1.%", ".5%", "0.00001%", "1,5%", "99999999999%"] {
            assert!(ppm(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_is_a_host_and_a_port() {
        for good in ["127.0.0.1:8080", "localhost:0", "node-1.example.org:65535", "[::1]:80"] {
            assert_eq!(good.parse::<Address>().map(|address| address.to_string()), Ok(good.to_owned()));
        }
        for bad in [
            "",
            "8080",
            ":8080",
            "localhost",
            "localhost:",
            "localhost:65536",
            "a b:1",
            "::1:80",
            "[::1:80",
            "http://a:1",
            "a..b:1",
        ] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
        assert!("0.0.0.0:1".parse::<Address>().is_ok_and(|address| address.is_unspecified()));
        assert!("[::]:1".parse::<Address>().is_ok_and(|address| address.is_unspecified()));
        assert!("localhost:1".parse::<Address>().is_ok_and(|address| !address.is_unspecified()));
    }

    #[test]
    fn a_name_is_safe_in_a_path() {
        let long = "a".repeat(101);
        for good in ["a", "node-1", "host.example-xkcdab", "9"] {
            assert!(good.parse::<Name>().is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "a b", "-a", "_c_x", "ä", &long] {
            assert!(bad.parse::<Name>().is_err(), "{bad}");
        }
    }

    #[test]
    fn seeds_are_one_or_a_range() {
        assert_eq!("7".parse(), Ok(Seeds(7..=7)));
        assert_eq!("1..100".parse(), Ok(Seeds(1..=100)));
        for bad in ["", "..", "1..", "..5", "5..1", "a", "1...3"] {
            assert!(bad.parse::<Seeds>().is_err(), "{bad}");
        }
    }

    #[test]
    fn memory_has_a_unit() {
        let bytes = |text: &str| text.parse::<Memory>().map(|memory| memory.0.as_u64());
        assert_eq!(bytes("512MiB"), Ok(512 << 20));
        assert_eq!(bytes("4GiB"), Ok(4 << 30));
        assert_eq!(bytes("1.5 GB"), Ok(1_500_000_000));
        for bad in ["", "GiB", "0", "0GiB", "-1GiB", "4 apples"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
