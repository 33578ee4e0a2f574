//! Node with its own HTTP server, for programs that have none.
//!
//! HTTP uses the [`Net`](crate::Net) seam. One listener exists for the life of the process, and its handler changes with the
//! role: an [`Application`] is a [`Service`](crate::Service) whose requests come through a [`HandlerSlot`]. The client keeps its
//! connections.

mod answer;
mod application;
mod client;
mod connection;
mod hosts;
mod node;
mod patience;
mod pool;
mod server;
mod slot;
mod token;

pub use answer::{error, json, only};
pub use application::{Application, Handler, HttpService, Serving};
pub use client::{Client, ClientError, ClientLimits, Idempotent};
pub use hosts::Hosts;
pub use node::{HttpNode, HttpNodeBuilder};
pub use server::{Front, Peer, Server, ServerLimits};
pub use slot::HandlerSlot;
pub use token::{ClusterToken, Guarded, GuardedHandler, WeakSecret};

#[cfg(test)]
mod tests;
