//! Drivers for `rolecall-core` on tokio.

mod clock;
mod driver;
mod entropy;
mod floor;
mod gate;
pub mod http;
pub mod journal;
mod members;
mod metrics;
mod net;
mod node;
mod service;
mod status;
pub mod store;
mod term;

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
pub use term::{Term, TermOver};
