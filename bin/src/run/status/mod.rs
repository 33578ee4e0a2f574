//! `rolecall status`: the leader, the time since which it leads, and the workers, from the store and the leader itself.

mod look;
mod report;

use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use rolecall::http::{Client, ClientLimits};
use rolecall::store::Participant;
use rolecall::{Clock as _, Leader, SystemClock, TokioNet};

use self::look::{Look, look};
use self::report::{LeaderAnswer, Report};
use super::{block_on, try_out};
use crate::cli::{Failure, Status, print};

/// Time within which the store must answer.
const STORE_LIMIT: Duration = Duration::from_secs(10);
/// Time within which the leader must answer.
const LEADER_LIMIT: Duration = Duration::from_secs(2);

/// Prints the state of the cluster.
///
/// # Errors
/// If the store cannot be reached, or belongs to one process alone.
pub fn status(options: &Status) -> Result<(), Failure> {
    options.store.require_built()?;
    if options.store.store.is_embedded() {
        return Err(Failure::Usage(
            "--store memory: this store is inside the node's own process; ask that node instead: GET /status, or open its page"
                .into(),
        ));
    }
    block_on(run(options))
}

async fn run(options: &Status) -> Result<(), Failure> {
    let store = &options.store.store;
    let cluster = options.store.cluster.to_string();
    let participant = Participant::new(&cluster, "status", STORE_LIMIT);
    try_out(store, &participant, STORE_LIMIT).await?;
    let mut connection =
        store.open(participant).map_err(|error| Failure::Failed(format!("--store {store}: {error}")))?;
    let seen = tokio::time::timeout(STORE_LIMIT, look(&mut *connection)).await.map_err(|_| {
        Failure::Failed(format!(
            "--store {store}: no answer within {} s; check the address, and that the store is running",
            STORE_LIMIT.as_secs()
        ))
    })?;
    let seen = seen.map_err(|refusal| Failure::Failed(format!("--store {store}: reading was refused: {refusal}")))?;
    let answer = match &seen.leader {
        Some(Leader::Node { id, address, .. }) if !address.is_empty() => ask_leader(id, address).await,
        Some(Leader::Node { .. } | Leader::Foreign { .. }) | None => None,
    };
    let report = Report::new(&cluster, &seen, answer.as_ref());
    if options.json { print(&report.json()) } else { print(&report.text(&store.to_string())) }
}

/// Asks the leader since when it has led, and how its shards are. `None` if it does not answer or no longer leads.
async fn ask_leader(id: &str, address: &str) -> Option<LeaderAnswer> {
    let clock = Arc::new(SystemClock::new());
    let client = Client::new(Arc::new(TokioNet), Arc::clone(&clock) as _, ClientLimits::default());
    let request = Request::get("/status").body(Bytes::new()).ok()?;
    let answer = client.send(address, request, clock.now() + LEADER_LIMIT).await.ok()?;
    let status: serde_json::Value = serde_json::from_slice(answer.body()).ok()?;
    let leads = status["role"] == "leader" && status["node"]["id"] == id;
    leads.then(|| serde_json::from_value(status).ok()).flatten()
}
