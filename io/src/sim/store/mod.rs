//! The store of a simulation: a host that runs the pure machine, and the adapter through which nodes reach it.

mod hub;
mod link;
mod wire;

pub(crate) use hub::Hub;
pub(crate) use link::{Lost, Mischief, SimStore};

/// The port of a server on the store's host.
fn port(server: rolecall_core::store::Server) -> u16 {
    2181 + u16::from(server.0)
}
