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
//! A [`Node`] does nothing by itself. A driver passes in each event with its time, and carries out the actions in
//! order. The coordination store is such a machine too ([`store::Machine`]), so a whole cluster fits into a test:
//!
//! ```
//! use std::time::Duration;
//! use rolecall_core::store::{self, Client, Machine, Output, Server};
//! use rolecall_core::{Action, Config, Event, Node, Role, Time};
//!
//! let (now, timeout) = (Time::from_millis(1), Duration::from_secs(4));
//! let (mut node, mut store) = (Node::new(Config::new("a")), Machine::new(store::Timing::unbounded(Duration::ZERO), 1));
//! let (mut outputs, mut actions) = (Vec::new(), Vec::new());
//! let client = Client { id: "a".into(), address: "10.0.0.1:80".into(), metadata: Default::default() };
//! store.handle(now, store::Event::Connect { server: Server(0), client, previous: None, timeout }, &mut outputs);
//! while let Some(output) = (!outputs.is_empty()).then(|| outputs.remove(0)) {
//!     let (session, event) = match output {
//!         Output::Connected { session, timeout } => (session, Event::SessionUp { session, timeout, entropy: 7 }),
//!         Output::Answered { session, id, answer } => (session, Event::Answered { id, answer }),
//!         Output::Noticed { session, id, notice } => (session, Event::Noticed { id, notice }),
//!         other => unreachable!("nothing breaks here: {other:?}"),
//!     };
//!     node.handle(now, event, &mut actions);
//!     while let Some(action) = (!actions.is_empty()).then(|| actions.remove(0)) {
//!         match action {
//!             Action::Store { id, request } => store.handle(now, store::Event::Request { session, id, request }, &mut outputs),
//!             Action::StartService { run, .. } => node.handle(now, Event::ServiceStarted { run }, &mut actions),
//!             _ => {}
//!         }
//!     }
//! }
//! assert_eq!(node.role(), Role::Leader);
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
mod registry;
pub mod rename;
mod role;
mod session;
mod settings;
mod sink;
mod step;
pub mod store;
mod time;
mod timer;
mod trace;
mod violation;

pub use action::{Action, Announcement, Leader, Objection, Run};
pub use config::{Config, OnSuspend};
pub use election::{Candidate, Guid};
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
pub use trace::Trace;
pub use violation::{Class, Violation};

/// Runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
