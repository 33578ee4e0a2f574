//! Drivers for `rolecall-core` on tokio: everything that touches the world, and decides nothing.
//!
//! ```text
//!  store  ─┐                        ┌─► requests to the store        Store: memory, ZooKeeper
//!  clock  ─┼─► driver ── Node ──────┼─► the gate                     Term::check, at the point of use
//!  others ─┘   (one task)  (core)   ├─► the service of the role      RoleService, behind one listener
//!                                   └─► status, metrics, journal     Observer, Journal
//! ```
//!
//! An application implements [`RoleService`]; a [`NodeBuilder`] puts a node together around it:
//!
//! ```
//! use core::error::Error;
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use rolecall::{Config, Handler, NodeBuilder, Role, RoleService, StoreUrl, Term};
//!
//! type Failure = Box<dyn Error + Send + Sync>;
//! struct Hello;
//! struct Greeting(Term);
//!
//! impl RoleService for Hello {
//!     type Handler = Greeting;
//!     async fn serve(&self, _role: Role, term: Term) -> Result<Greeting, Failure> {
//!         Ok(Greeting(term))
//!     }
//! }
//!
//! impl Handler for Greeting {
//!     async fn handle(&self, _request: Request<Bytes>) -> Response<Bytes> {
//!         let leads = self.0.check().is_ok();
//!         Response::new(if leads { "I lead" } else { "I work" }.into())
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
//! println!("{} has {}", node.address().to_owned(), node.wait().await);
//! # Ok(())
//! # }
//! ```

mod clock;
mod driver;
mod entropy;
mod floor;
mod gate;
pub mod http;
pub mod journal;
mod members;
mod metrics;
mod mutant;
mod net;
mod node;
mod service;
mod status;
pub mod store;
mod tap;
mod term;
mod watermark;

pub use rolecall_core::{
    Action, Announcement, Candidate, Config, Difference, Directory, Epoch, Event, Fence, Guid, Health, Incarnation,
    Leader, Member, MemberKey, Node, Objection, OnSuspend, OpId, Role, Session, Snapshot, Time, Violation,
};

pub use clock::{Clock, SystemClock};
pub use driver::Outcome;
pub use entropy::{Entropy, OsEntropy, SeededEntropy};
pub use floor::Stale;
pub use gate::{Gate, GateView, Stop};
pub use members::{Members, Roster};
pub use net::{BoxFuture, Listener, Net, Stream, TokioNet};
pub use node::{NodeBuilder, RunningNode, StartError};
pub use service::{Handler, RoleService};
pub use status::{Observer, Status, StoreState};
pub use store::StoreUrl;
pub use tap::Tap;
pub use term::{Term, TermOver};
pub use watermark::Watermark;
