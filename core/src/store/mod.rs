//! The coordination store: the words a node uses with it.

mod request;

pub use request::{Answer, Notice, Refusal, Reply, Request, TermRecord};
