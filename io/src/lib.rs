//! Leader election for programs that run in several copies: one copy leads, all see the leader and the members, and the leader
//! can check its term right before each act that only a leader may perform.
//!
//! ```text
//!        your program                                    rolecall
//!  ┌──────────────────────┐   join, lead, leave   ┌───────────────────────────────┐          ┌────────────┐
//!  │ work under a Term ───┼──────────────────────►│ a thread of its own           │ requests │ store:     │
//!  │   check, fence, ended│◄──────────────────────┼ driver ── Node (rolecall-core)├─────────►│ ZooKeeper, │
//!  │ leader(), members()  │   terms, changes      │ clock, gate, journal          │◄─────────┤ Redis, or  │
//!  └──────────────────────┘                       └───────────────────────────────┘  answers │ embedded   │
//!                                                                                           └────────────┘
//! ```
//!
//! # Ten lines
//! ```
//! use rolecall::{Election, Term};
//!
//! async fn nightly_job(term: &Term) {
//!     println!("sending the invoices under epoch {}", term.fence().epoch.0);
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // "memory:" is a store inside this process; a real one is "zookeeper://zk1,zk2,zk3/app".
//! let election = Election::join("memory:", "billing").await?;
//! let term = election.lead().await?; // waits for its turn
//! term.run(nightly_job(&term)).await; // dropped when the term ends; if it returns, the term is given back
//! election.leave().await;
//! # Ok(())
//! # }
//! ```
//! [`Election::builder`] has all other settings: an id, an address, metadata, timeouts. [`blocking::Election`] is for programs
//! without async. [`LeaderLayer`](crate#features) puts an election in front of a tower service.
//!
//! # Layers
//! An [`Election`] is built on a [`NodeBuilder`], which runs an application that implements [`Service`]: it has one role while it
//! leads and another while it follows. The feature `http` adds a server for programs that have none: an [`http::Application`]
//! answers requests according to its role, behind one socket that stays open. All of them carry out the orders of [`Node`], a
//! pure state machine of `rolecall-core`.
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
//!
//! # Which promise holds where
//! | promise | `memory:` | `zookeeper:` | `redis:` | it depends on |
//! | --- | --- | --- | --- | --- |
//! | Two members never both pass [`Term::check`] at the same time. | holds | holds, among members of this library: a Curator latch in the same queue keeps the order but makes no promise | holds for one step forward of the server's clock within a lease ([`LeaseTiming`]), steps back of any length, restarts and promotions; not while two servers both take writes as the primary (`?wait=1` rules that out), nor after `FLUSHALL` | clocks whose rates are right within [`Config`]'s clock error (1 %), and Linux, whose `CLOCK_BOOTTIME` goes on while the machine is suspended |
//! | The same while a process is stopped, or a machine is suspended. | holds | holds, except for a pause right before a claim whose server is then cut off (README, "Known limit") | holds: a lease ends by the store's clock, whoever was paused | the same clock. A virtual machine that is paused together with its clocks sees no time pass, so only the fence helps |
//! | A later term has a greater [`Fence`]. | holds for the life of the process | holds for the life of the store's data; new data has a new [`Incarnation`] | holds within an incarnation; a server that may have lost writes begins a new one | nothing |
//! | What a former leader sends late is refused. | holds | holds | holds | the receiver, which must check: with [`Following::admit`] in a member, with a [`Watermark`] in a storage outside |
//! | There is a leader again: at once after [`Election::leave`], and after a crash within the session timeout, a tick, the drain time and a second. | holds | holds, while a majority of its servers is up | holds while the server is up, within the session timeout, which is the lease; after a restart of the server, and in a new cluster, one session timeout later | nothing |
//! | Members are listed for as long as their sessions live. | holds | holds, in the form of Curator's service discovery | holds | nothing |
//! | All of it outlives a restart of the store. | no: the store is this process | holds | as far as the server keeps its data | nothing |
//!
//! The alarm that ends a term on time is a `timerfd`. If there is none (too many open files), the clock is read once a second
//! instead. On systems other than Linux this crate does not compile: without a clock that counts suspended time, the second row
//! would silently be wrong. `rolecall-core` compiles anywhere, even without `std`.
//!
//! # Glossary
//! - *Session*: a client's standing with the store. It ends when the store hears nothing of the client for the session timeout,
//!   and a member's candidate and entry end with it.
//! - *Term*: the time for which one member leads. A write, the claim, begins it; further writes, the heartbeats, renew it.
//! - *Epoch*: the number of a term, which rises from term to term. *Incarnation*: the number of one life of the store's data.
//! - *Fence*: epoch and incarnation together. A leader sends it along with each request.
//! - *Floor*: the newest fence that a member knows. It refuses older ones. *Watermark*: the same for a storage outside.
//! - *Gate*: the check at the point of use. It reads only the clock, and is open only while a term is valid.
//! - *Lapse*: the end of a term whose validity ran out because no heartbeat was confirmed.
//! - *Drain*: the time for which work may go on when its term ends in good order.
//! - *Worker*, *coordinator*: the entries in the store of a member that follows and of one that leads.
//! - *Observer*: a member that never leads and is not listed; also the view of a running node, [`Observer`].
//! - *Foreign*: of another kind of client, such as Curator's; said of candidates.
//!
//! # Features
//! `http`, `redis` and `zookeeper` are on by default. `tower` adds `LeaderLayer`: on the leader it calls the handler, with the fence
//! of the term, and on any other member it redirects to the leader.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "rolecall runs on Linux only: it needs a clock that counts suspended time (CLOCK_BOOTTIME) and alarms on it (timerfd), or a \
     term would outlive its validity while the machine sleeps; rolecall-core runs anywhere"
);

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
mod id;
pub mod journal;
mod members;
mod metrics;
mod mutant;
#[cfg(any(feature = "http", feature = "redis"))]
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

pub use rolecall_core::election::{LeaseTiming, QueueTiming, Timing};
pub use rolecall_core::{
    Action, Announcement, Candidate, Config, Difference, Directory, Epoch, Event, Family, Fence, Guid, Health,
    Incarnation, Leader, Link, Member, MemberKey, Metadata, Node, Objection, OnSuspend, OpId, Role, Session, Slot,
    Snapshot, Time, Token, Violation,
};

pub use clock::{Clock, SystemClock};
pub use driver::{Outcome, RunOn};
pub use election::{Election, ElectionBuilder, Hold, JoinError, LeadError, Term};
pub use entropy::{Entropy, OsEntropy, SeededEntropy};
pub use floor::Stale;
pub use following::Following;
pub use future::BoxFuture;
pub use gate::{Gate, GateView, Stop};
pub use id::generated_id;
pub use members::{Members, Roster};
#[cfg(any(feature = "http", feature = "redis"))]
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

/// README, whose example must compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
