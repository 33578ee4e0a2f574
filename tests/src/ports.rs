//! Ports for the servers of a test.

use core::hash::{BuildHasher, Hasher};
use std::hash::RandomState;
use std::net::TcpListener;

/// A free port on `127.0.0.1`.
///
/// It lies below the range of ports that the system gives to outgoing connections. So while a server is down, no other
/// connection takes its port, and no client that keeps trying connects to itself.
///
/// # Panics
/// If none is free, which does not happen on machines that run tests.
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
