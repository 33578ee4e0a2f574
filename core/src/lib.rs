//! Leader election, roles and membership as a pure state machine: `State + Event -> Actions`.
//!
//! ```text
//!             events                            actions
//!  store  ───────────────┐              ┌───────────────► store requests
//!  service ──────────────┤     Node     ├───────────────► start and stop services, open and close the gate
//!  clock  ───────────────┤              ├───────────────► announce roles, leaders, members
//!  operator ─────────────┘              └───────────────► next_deadline: when to wake the node
//! ```
//!
//! A [`Node`] does nothing by itself. A driver passes in each event with its time, and carries out the actions in order. The
//! coordination store is such a machine too ([`store::Machine`]), so a whole cluster fits into a test, which the feature
//! `testing` has ready:
//!
#![cfg_attr(feature = "testing", doc = "```")]
#![cfg_attr(not(feature = "testing"), doc = "```ignore")]
//! let mut cluster = rolecall_core::testing::Cluster::new();
//! cluster.start_in_order(&["a", "b", "c"]);
//! assert_eq!(cluster.leaders(), ["a"]);
//! cluster.settle_without("a");
//! assert_eq!(cluster.leaders(), ["b"]);
//! ```
//!
//! The examples `threads` and `smol` drive nodes in real time; `rolecall` does so on tokio. [`observe`] has the judges
//! of the promises ([`Violation`]). [`Trace`] turns events and actions into readable text.
#![no_std]
#![deny(clippy::std_instead_of_core, clippy::std_instead_of_alloc, clippy::alloc_instead_of_core)]

extern crate alloc;
// Code derived by `arbitrary` counts recursion in a thread-local; mutants are named by an environment variable.
#[cfg(any(feature = "arbitrary", rolecall_mutants))]
extern crate std;

/// Version of this crate, by which records name the code that decided.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

mod action;
mod config;
pub mod election;
mod epoch;
mod event;
mod floor;
mod identity;
mod member;
mod membership;
mod metadata;
mod mutant;
mod node;
pub mod observe;
mod pass;
mod registry;
pub mod rename;
mod role;
mod session;
mod settings;
mod sink;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod time;
mod timer;
mod token;
mod trace;
mod violation;
mod wishes;

pub use action::{Action, Announcement, Leader, Objection, Run};
pub use config::{Config, OnSuspend};
pub use election::{Candidate, Family, Guid};
pub use epoch::{Epoch, Fence, Incarnation};
pub use event::Event;
pub use member::{Difference, Directory, Member, MemberKey, Snapshot};
pub use metadata::Metadata;
pub use node::{Health, Node};
pub use role::Role;
pub use session::{Link, OpId, Session, Slot};
pub use sink::Sink;
pub use time::Time;
pub use timer::Timer;
pub use token::Token;
pub use trace::Trace;
pub use violation::{Class, Violation};

/// Runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
