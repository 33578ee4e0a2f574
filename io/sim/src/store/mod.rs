//! The store of a simulation: hosts that run the pure state machine, one for each server, and the adapter through which
//! nodes reach it.

mod hub;
mod link;
mod wire;

pub(crate) use hub::Hub;
pub(crate) use link::{LinkFaults, Lost, SimStore};

/// Port of every server.
const PORT: u16 = 2181;

/// Host name of a server of the store.
pub(super) fn host(server: rolecall_core::store::Server) -> String {
    format!("store-{}", server.0)
}
