//! One node that serves a register, as a process that tests can kill and stop.

use core::time::Duration;
use std::error::Error;
use std::sync::Arc;

use rolecall::http::{Client, ClientLimits, HttpNodeBuilder};
use rolecall::store::StoreUrl;
use rolecall::{SystemClock, TokioNet};
use rolecall_cli::register::Register;
use rolecall_core::Config;

/// Time that requests under way get when a term ends.
const DRAIN: Duration = Duration::from_secs(1);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [id, address, store, storage, lease, patience] = arguments.as_slice() else {
        return Err("expected: ID ADDRESS STORE STORAGE LEASE_MS PATIENCE_MS".into());
    };
    let store: StoreUrl = store.parse()?;
    let [lease, patience] = [lease.parse()?, patience.parse()?].map(Duration::from_millis);
    let mut config = Config::new(id.as_str());
    config.election = store.timing();
    config.drain = DRAIN;
    let clock = Arc::new(SystemClock::new());
    let client = Client::new(Arc::new(TokioNet), clock.clone(), ClientLimits::default());
    let register = Register::new(client, clock, storage.as_str(), patience);
    let builder = HttpNodeBuilder::new(config, register, move |participant| store.open(participant));
    let mut node = builder.session_timeout(lease).listen(address).start().await?;
    let outcome = node.wait().await;
    Err(format!("{id} ended: {outcome}").into())
}
