//! Elections for programs that run as several equals: who leads, who is a member, and a term that can be checked right before
//! each thing that only a leader may do.
//!
//! ```text
//!        your program                                    rolecall
//!  ┌──────────────────────┐   join, lead, leave   ┌───────────────────────────────┐          ┌────────────┐
//!  │ work under a Term ───┼──────────────────────►│ a thread of its own           │ requests │ store      │
//!  │   check, fence, ended│◄──────────────────────┼ driver ── Node (rolecall-core)├─────────►│ ZooKeeper, │
//!  │ leader(), members()  │   terms, news         │ clock, gate, journal          │◄─────────┤ or embedded│
//!  └──────────────────────┘                       └───────────────────────────────┘  answers └────────────┘
//! ```
//!
//! # Ten lines
//! ```
//! use rolecall::{Election, Term};
//!
//! async fn nightly_job(term: &Term) {
//!     println!("sending the invoices, under epoch {}", term.fence().epoch.0);
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Or "zookeeper://zk1,zk2,zk3/app". `memory:` is a store inside this process.
//! let election = Election::join("memory:", "billing").await?;
//! let term = election.lead().await?; // waits for its turn
//! term.run(nightly_job(&term)).await; // dropped when the term ends; the term is given back when it returns
//! election.leave().await;
//! # Ok(())
//! # }
//! ```
//! [`Election::builder`] takes what else may be said: an id, an address, metadata, timeouts. [`blocking::Election`] is the same
//! for programs without async. [`LeaderLayer`](crate#features) puts it in front of a tower service.
//!
//! # The storeys
//! [`Election`] stands on a [`NodeBuilder`], which runs an application that implements [`Service`]: what it does while it leads and
//! while it follows. With the feature `http` there is a server on top for programs that have none: [`http::Application`] answers
//! requests in its role, behind one socket that stays open. All of them obey [`Node`], a pure state machine of `rolecall-core`.
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
//! | promise | `memory:` | `zookeeper:` | it counts on |
//! | --- | --- | --- | --- |
//! | Two members never both pass [`Term::check`] at the same time. | holds | holds, among members of this library: a Curator latch in the same queue keeps the order but makes no promise | clocks whose rates are right within [`Config`]'s clock error (1 %); Linux, whose `CLOCK_BOOTTIME` goes on while the machine is suspended |
//! | The same while a process is stopped, or a machine suspended. | holds | holds, but for a pause right before a claim whose server is then cut off (README, "Known limit") | the same clock. A virtual machine that is paused together with its clocks sees no time pass: there only the fence helps |
//! | A later term has a greater [`Fence`]. | holds for the life of the process | holds for the life of the store's data; after that the [`Incarnation`] is another | nothing |
//! | What an earlier leader sends late is refused. | holds | holds | whoever receives it: [`Following::admit`] in a member, a [`Watermark`] in a storage outside |
//! | Somebody leads again: after a crash within the session timeout, a tick, the drain and a second; after [`Election::leave`] at once. | holds | holds, while a majority of its servers is up | nothing |
//! | Members are listed for as long as their sessions live. | holds | holds, in the form of Curator's service discovery | nothing |
//! | All of it outlives a restart of the store. | no: the store is this process | holds | nothing |
//!
//! The alarm that ends a term on time is a `timerfd`; where none is to be had (too many open files) the clock is looked at once a
//! second. Elsewhere than on Linux this crate refuses to be compiled: without a clock that counts suspended time the second row
//! would be wrong without anybody noticing. `rolecall-core` compiles anywhere, also without `std`.
//!
//! # Words
//! - *Session*: what a store keeps for a process that is heard of in time. A member's candidate and entry go with it.
//! - *Term*: the time for which one member leads. It begins with a write, the claim, and is prolonged by others, the heartbeats.
//! - *Epoch*: the term's number, which rises from term to term. *Incarnation*: one life of the store's data.
//! - *Fence*: both together; it goes along with whatever a leader sends.
//! - *Floor*: the newest fence that a member knows of; it refuses older ones. *Watermark*: the same for a storage outside.
//! - *Gate*: the check at the point of use. It reads the clock, asks nobody, and is open only in a term that holds.
//! - *Lapse*: the end of a term by its time, when no heartbeat was confirmed.
//! - *Drain*: the time that work may take to end in good order.
//! - *Worker*, *coordinator*: how a member that follows, and one that leads, is listed in the store.
//! - *Observer*: a member that only looks on; also the view of a running node, [`Observer`].
//! - *Foreign*: a contender or an entry of another kind of client, such as Curator's.
//!
//! # Features
//! `http` and `zookeeper` are on by default. `tower` brings `LeaderLayer`: only a leader's handlers are called, with the fence of
//! its term; anybody else redirects to the leader.

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

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
