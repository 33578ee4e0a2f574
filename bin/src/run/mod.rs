//! Implementations of the commands.

mod application;
mod change;
#[cfg(feature = "sim")]
mod check;
mod demo;
mod exec;
mod folders;
mod launch;
#[cfg(feature = "sim")]
mod memory;
mod narrator;
mod node;
mod papers;
mod reader;
mod replay;
mod secret;
mod signals;
#[cfg(feature = "sim")]
mod sim;
mod status;

use core::future::Future;
use core::time::Duration;

pub use change::resign;
#[cfg(feature = "sim")]
pub use check::check;
pub use demo::demo;
pub use exec::exec;
pub use node::node;
pub use papers::{completions, manual};
pub use replay::replay;
#[cfg(feature = "sim")]
pub use sim::sim;
pub use status::status;

use rolecall::store::{Participant, StoreUrl};

use crate::cli::Failure;

/// Tries the store out before anything else begins. A store that does not answer within the limit may come later.
async fn try_out(store: &StoreUrl, participant: &Participant, limit: Duration) -> Result<(), Failure> {
    let tried = store.check(participant, limit).await;
    tried.map_err(|error| Failure::Failed(format!("cannot use the store: {error}")))
}

/// Runs `future` to its end on a new runtime.
fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Failed(format!("cannot start threads: {error}")))?;
    let outcome = runtime.block_on(future);
    // Do not wait for work on other threads, such as building an index.
    runtime.shutdown_background();
    outcome
}
