//! A whole cluster in a test: nodes, the pure store, a virtual clock and the wires between them, in one thread.
//!
//! Every message takes a millisecond, nothing sleeps, and nothing is random unless a seed is given, so a test is fast and
//! repeats itself. Every promise is judged on every step; one that is broken panics with the trace of all that led to it.
//! A program that embeds the core in a runtime of its own finds out here what a cluster does before it is built:
//!
//! ```
//! use rolecall_core::Role;
//! use rolecall_core::testing::Cluster;
//!
//! let mut cluster = Cluster::new();
//! cluster.start_in_order(&["a", "b", "c"]);
//! assert_eq!(cluster.leaders(), ["a"]);
//! let first = cluster.node("a").term().expect("it leads").0;
//!
//! cluster.crash("a");
//! cluster.until("b leads", |cluster| cluster.leaders() == ["b"]);
//!
//! let second = cluster.node("b").term().expect("it leads").0;
//! assert!(second.is_newer_than(first), "whoever is shown the new term refuses the old one");
//! cluster.start("a");
//! cluster.settle();
//! assert_eq!(cluster.role("a"), Role::Worker);
//! println!("{}", cluster.trace.text());
//! ```
//!
//! Nodes crash, pause and lose the network ([`Cluster::crash`], [`Cluster::pause`], [`Cluster::cut`]); the store has
//! [`Fault`](crate::store::Fault)s ([`Cluster::fault`]) and operators ([`Cluster::operator`]); what surrounds a node, a slow
//! service, a clock that runs too fast, answers that are lost, is set on its [`Host`]. [`hostile`] plays what no store would
//! ever do.

mod cluster;
#[cfg(feature = "textbook")]
pub mod comparison;
mod dice;
mod faults;
mod host;
pub mod hostile;
mod judge;
mod steady;

pub use cluster::{Cluster, LATENCY, TICK, TIMEOUT};
pub use dice::Dice;
pub use host::{Host, Outcome};
pub use steady::{Counter, Steady};
