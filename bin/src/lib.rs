//! Application on top of `rolecall`: a search over a folder of documents, divided among equal nodes of which one leads, and
//! the command line that runs it.
//!
//! The binary `rolecall` only calls [`main`].

pub mod cli;
pub mod console;
mod dispatch;
mod exec;
pub mod front;
mod mutant;
pub mod origin;
pub mod page;
#[cfg(feature = "register")]
pub mod register;
pub mod run;
pub mod search;
#[cfg(feature = "sim")]
pub mod search_sim;
mod service_manager;

pub use dispatch::main;
