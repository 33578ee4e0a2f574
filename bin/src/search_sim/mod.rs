//! Search on simulated machines: whole nodes with the real service, and somebody who searches throughout.
//!
//! ```text
//! visitor ─► any node ─307─► leader ─tasks─► workers        Collection: documents made in code
//!    │                          │ Outgoing: what it sends    index in memory, no thread
//!    │ each answer              │ Watched: what it answers
//!    ▼                          ▼
//! Alone: one node's answer   Acts: never for an older term than one that has acted (P1, P14)
//! ```
//! ```
//! use core::time::Duration;
//! use rolecall_cli::search_sim::{node, visit};
//! use rolecall_sim::{Fault, Plan, Simulation};
//!
//! let crash = Fault::Crash { node: 0, down: Duration::from_secs(2) };
//! let simulation = Simulation::new(node).visitor(visit).length(Duration::from_secs(10));
//! let run = simulation.plan(Plan::calm().then(Duration::from_secs(5), crash)).run();
//! assert_eq!(run.finding, None);
//! ```
//! The judges look from outside: the service is wrapped, as are the sockets that it is given, and neither knows.

mod alone;
mod census;
mod collection;
mod judge;
mod node;
mod outgoing;
mod question;
mod visit;
mod watched;

pub use census::{SETTLED_WITHIN, census};
pub use node::node;
pub use question::Question;
pub use visit::{WHOLE_WITHIN, follow, visit};
