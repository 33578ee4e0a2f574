//! Application on top of `rolecall`: a search over a folder of documents, divided among equal nodes of which one leads, and
//! the command line that runs it.
//!
//! The binary `rolecall` only calls [`main`].

pub mod cli;
mod dispatch;
pub mod front;
mod mutant;
pub mod page;
#[cfg(feature = "register")]
pub mod register;
pub mod run;
pub mod search;

pub use dispatch::main;
