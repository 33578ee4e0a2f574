//! Leader election, roles and membership as a pure state machine: `State + Event -> Actions`.
#![no_std]

extern crate alloc;
// The code that `arbitrary` derives counts recursion in a thread-local.
#[cfg(feature = "arbitrary")]
extern crate std;

mod action;
mod candidate;
mod config;
mod election;
mod epoch;
mod event;
mod floor;
mod identity;
mod member;
mod membership;
pub mod names;
mod node;
pub mod observe;
mod registry;
mod role;
mod session;
mod sink;
mod step;
pub mod store;
mod time;
mod timer;
mod trace;
mod violation;

pub use action::{Action, Announcement, Leader, Objection, Run};
pub use candidate::{Candidate, Guid};
pub use config::{Config, OnSuspend};
pub use epoch::{Epoch, Fence, Incarnation};
pub use event::Event;
pub use member::{Difference, Directory, Member, MemberKey, Snapshot};
pub use node::{Health, Node};
pub use role::Role;
pub use session::{Link, OpId, Session, Slot};
pub use sink::Sink;
pub use time::Time;
pub use timer::Timer;
pub use trace::Trace;
pub use violation::Violation;
