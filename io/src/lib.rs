//! Drivers for `rolecall-core` on tokio.

mod clock;
mod net;
pub mod store;

pub use clock::Clock;
pub use net::{BoxFuture, Listener, Net, Stream};
