//! Drivers for `rolecall-core` on tokio: everything that touches the world, and decides nothing.
//!
//! ```text
//!  above, with the feature `http`     a server whose handler follows the role     http::Application, HttpNode
//!  ───────────────────────────────────────────────────────────────────────────────────────────────────────────
//!  store  ─┐                        ┌─► requests to the store        Store: memory, ZooKeeper
//!  clock  ─┼─► driver ── Node ──────┼─► the gate                     LeaderTerm::check, at the point of use
//!  others ─┘  (a thread) (core)     ├─► the application, in its role Service, on its own runtime
//!                                   └─► status, metrics, journal     Observer, Journal
//! ```
//!
//! An application implements [`Service`]; a [`NodeBuilder`] puts a node together around it:
//!
//! ```
//! use core::error::Error;
//! use rolecall::{Assignment, Config, NodeBuilder, Role, Service, StoreUrl};
//!
//! type Failure = Box<dyn Error + Send + Sync>;
//! struct Hello;
//!
//! impl Service for Hello {
//!     type Running = ();
//!     async fn start(&self, assignment: Assignment) -> Result<(), Failure> {
//!         match assignment {
//!             Assignment::Lead(term) => println!("I lead: {:?}", term.check()),
//!             Assignment::Follow(following) => println!("I follow {:?}", following.leader()),
//!         }
//!         Ok(())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Failure> {
//! let store: StoreUrl = "memory:".parse()?;
//! let open = move |participant| store.open(participant);
//! let mut node = NodeBuilder::new(Config::new("node-a"), Hello, open).start().await?;
//! node.observer().until(|status| status.role == Role::Leader).await;
//! node.shut_down().await;
//! println!("node-a has {}", node.wait().await);
//! # Ok(())
//! # }
//! ```

pub mod blocking;
mod clock;
mod driver;
mod election;
mod entropy;
mod floor;
mod following;
mod future;
mod gate;
#[cfg(feature = "http")]
pub mod http;
pub mod journal;
mod members;
mod metrics;
mod mutant;
#[cfg(feature = "http")]
mod net;
mod node;
mod service;
mod status;
pub mod store;
mod tap;
mod term;
#[cfg(feature = "tower")]
mod tower;
mod watermark;

pub use rolecall_core::election::{QueueTiming, Timing};
pub use rolecall_core::{
    Action, Announcement, Candidate, Config, Difference, Directory, Epoch, Event, Fence, Guid, Health, Incarnation,
    Leader, Link, Member, MemberKey, Metadata, Node, Objection, OnSuspend, OpId, Role, Session, Slot, Snapshot, Time,
    Violation,
};

pub use clock::{Clock, SystemClock};
pub use driver::{Outcome, RunOn};
pub use election::{Election, ElectionBuilder, JoinError, LeadError, Term};
pub use entropy::{Entropy, OsEntropy, SeededEntropy};
pub use floor::Stale;
pub use following::Following;
pub use future::BoxFuture;
pub use gate::{Gate, GateView, Stop};
pub use members::{Members, Roster};
#[cfg(feature = "http")]
pub use net::{Listener, Net, Stream, TokioNet};
pub use node::{NodeBuilder, RunningNode, StartError};
pub use service::{Assignment, Drain, Running, Service};
pub use status::{Observer, Status, StoreState};
pub use store::{Registration, StoreUrl};
pub use tap::Tap;
pub use term::{LeaderTerm, TermOver};
#[cfg(feature = "tower")]
pub use tower::{LeaderLayer, LeaderOnly};
pub use watermark::Watermark;
