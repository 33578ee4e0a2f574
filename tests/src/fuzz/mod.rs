//! The bodies of the fuzz targets: each takes any bytes and panics if something is wrong.
//!
//! The fuzzer (`fuzz/`) drives them with bytes of its own; the tests replay its corpora.

mod bytes;
pub mod node_events;
#[cfg(feature = "parsers")]
pub mod parsers;
pub mod store_machine;
pub mod transitions;
