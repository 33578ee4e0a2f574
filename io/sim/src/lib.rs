//! Deterministic simulations: whole nodes on simulated machines, in one thread.
//!
//! ```text
//!  Simulation ─► hosts a b c…: the real driver, HTTP server and service   ◄── faults of a Plan
//!                host store:   the pure store machine, its servers               │
//!                host visitor: asks throughout                                   ▼
//!                └─ after each step: every promise, on each node and between them ─► Run
//! ```
//!
//! Sockets, time, randomness and the store are simulated; everything else is what runs in production. All randomness
//! follows from the seed, so the same settings give the same run, to the last step.
//!
//! A simulation of a service of your own:
//!
//! ```
//! use core::time::Duration;
//! use rolecall_sim::{Fault, Plan, Simulation, adder};
//!
//! let simulation = Simulation::new(adder::node)
//!     .visitor(adder::visit)
//!     .seed(7)
//!     .length(Duration::from_secs(20))
//!     .plan(Plan::calm().then(Duration::from_secs(5), Fault::Crash { node: 0, down: Duration::from_secs(8) }));
//!
//! let run = simulation.run();
//! assert_eq!(run.finding, None);
//! assert_eq!(run.fingerprint, simulation.run().fingerprint);
//! ```
//!
//! The build needs `--cfg tokio_unstable`. The service has to tell the time by its [`Host`]'s clock, connect through
//! its sockets, and start no thread.

#[cfg(not(tokio_unstable))]
compile_error!(
    "rolecall-sim needs RUSTFLAGS='--cfg tokio_unstable': without it a seed does not repeat its run, and panics in \
     tasks are lost"
);

mod acts;
pub mod adder;
mod clock;
mod evidence;
mod fault;
mod freezer;
mod host;
mod inject;
mod judge;
mod net;
mod notebook;
mod plan;
mod rest;
mod run;
mod service_faults;
mod simulation;
mod sockets;
mod storage;
mod store;
mod visitor;
mod world;

pub use acts::Acts;
pub use evidence::{Evidence, Wrong};
pub use fault::{End, Fault, FaultKind};
pub use host::{Host, name as node_name};
pub use plan::Plan;
pub use run::{Broken, Finding, HostState, Moment, MomentKind, Run};
pub use simulation::Simulation;
pub use storage::StorageHost;
pub use visitor::Visitor;
