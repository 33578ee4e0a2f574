//! The store of a simulation: hosts that run the pure machine, one for each of its servers, and the adapter through which nodes
//! reach it.

mod hub;
mod link;
mod wire;

pub(crate) use hub::Hub;
pub(crate) use link::{Lost, Mischief, SimStore};

/// The port of every server on its host.
const PORT: u16 = 2181;

/// The host of a server of the store.
pub(super) fn host(server: rolecall_core::store::Server) -> String {
    format!("store-{}", server.0)
}
