//! The application on top of `rolecall`: a search over a folder of documents, shared out among equal nodes of which one
//! leads; and the command line that runs it.
//!
//! The binary `rolecall` is [`cli::main`] and nothing else.

pub mod cli;
pub mod front;
pub mod page;
#[cfg(feature = "register")]
pub mod register;
pub mod run;
pub mod search;
