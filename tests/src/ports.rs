//! Ports for servers that a test starts.

use core::hash::{BuildHasher, Hasher};
use std::hash::RandomState;
use std::net::TcpListener;

/// A port on `127.0.0.1` on which nobody listens now.
///
/// It lies below the range from which the system takes the ports of outgoing connections: while a server there is down,
/// neither can another connection take its port, nor can a client that tries again and again connect to itself.
///
/// # Panics
/// If none is free, which no machine that runs tests comes to.
#[must_use]
pub fn free() -> u16 {
    const FIRST: u16 = 20_000;
    const COUNT: u16 = 12_000;
    let random = RandomState::new().build_hasher().finish();
    let start = u16::try_from(random % u64::from(COUNT)).expect("less than COUNT");
    (0..COUNT)
        .map(|step| FIRST + (start + step) % COUNT)
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("one port of twelve thousand is free")
}
