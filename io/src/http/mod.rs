//! HTTP over the [`Net`](crate::Net) seam: one listener for the life of the process, whose handler follows the role, and a
//! client that keeps its connections.

mod answer;
mod client;
mod connection;
mod patience;
mod pool;
mod server;
mod slot;

pub use answer::{error, json, only};
pub use client::{Client, ClientError, ClientLimits, Idempotent};
pub use server::{Front, Peer, Server, ServerLimits};
pub use slot::Slot;

#[cfg(test)]
mod tests;
