//! Drivers for `rolecall-core` on tokio.

mod clock;
mod floor;
mod gate;
pub mod http;
mod members;
mod net;
mod service;
pub mod store;
mod term;

pub use clock::{Clock, SystemClock};
pub use floor::Stale;
pub use gate::{Gate, Stop};
pub use members::{Members, Roster};
pub use net::{BoxFuture, Listener, Net, Stream, TokioNet};
pub use service::{Handler, RoleService};
pub use term::{Term, TermOver};
