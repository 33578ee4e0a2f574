//! Visitor that asks whether the cluster has healed: answers are whole, and every node holds its share and nothing else.

use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use rolecall::Clock;
use rolecall::http::Client;
use rolecall_sim::Visitor;
use serde::Deserialize;

use super::judge::Judged;
use super::node::SHARDS;
use super::question::Question;
use super::visit::{Asking, WHOLE_WITHIN, choice};
use crate::search::RESCAN;
use crate::search::holdings::KEEP_UNWANTED;
use crate::search::placement::shards_of;
use crate::search::shares::leader_holds_everything;

/// Longest time after the last fault until every node holds its share and nothing else: once a shard has moved, whoever had it
/// keeps it for a while, and finds at its next look at the documents that this is over.
pub const SETTLED_WITHIN: Duration =
    WHOLE_WITHIN.saturating_add(KEEP_UNWANTED).saturating_add(RESCAN.saturating_mul(3));

/// Time between two censuses.
const EVERY: Duration = Duration::from_secs(2);
/// Longest wait for a node's answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// The part of `/status` that counts here.
#[derive(Debug, Deserialize)]
struct Status {
    node: Node,
    role: String,
    workers: Vec<Node>,
    shares: Option<Shares>,
    index: Index,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
}

#[derive(Debug, Deserialize)]
struct Shares {
    shards: usize,
    whole: usize,
}

#[derive(Debug, Deserialize)]
struct Index {
    shards: usize,
}

/// Asks a living node for an answer and every node for what it holds, again and again, and judges both once the last fault is
/// long enough ago: for [`Simulation::visitor`](rolecall_sim::Simulation::visitor).
///
/// # Errors
/// No whole answer longer than [`WHOLE_WITHIN`] after the last fault, or a node that holds more or less than its share longer than
/// [`SETTLED_WITHIN`] after it.
pub async fn census(mut visitor: Visitor) -> Result<(), String> {
    let (client, clock) = (visitor.client(), visitor.clock());
    loop {
        clock.sleep_until(clock.now() + EVERY).await;
        if !is_quiet_for(&visitor, WHOLE_WITHIN) {
            continue;
        }
        let is_settled = is_quiet_for(&visitor, SETTLED_WITHIN);
        let bits = visitor.bits();
        let nodes = ask_all(&visitor, &client, &clock).await;
        let asked = nodes.get(choice(bits, nodes.len()));
        let answer = match asked {
            Some((address, _)) => whole_answer(&visitor, address).await,
            None => Err("no node answers".to_owned()),
        };
        // A fault in the meantime makes the answers worthless.
        if !is_quiet_for(&visitor, WHOLE_WITHIN) {
            continue;
        }
        answer.map_err(|error| format!("{error}, more than {} s after the last fault", WHOLE_WITHIN.as_secs()))?;
        visitor.is_served();
        visitor.count("answers whole again");
        if is_settled {
            count(&nodes)?;
            visitor.count("censuses");
        }
    }
}

fn is_quiet_for(visitor: &Visitor, length: Duration) -> bool {
    visitor.quiet_for().is_some_and(|quiet| quiet > length)
}

async fn whole_answer(visitor: &Visitor, address: &str) -> Result<(), String> {
    let question = Question::new("river stone");
    match Asking::at(visitor, address).ask(&question).await?.judged {
        Some(Judged::Whole(_)) => Ok(()),
        Some(Judged::Partial(answer)) => {
            Err(format!("{} documents are missing from the answer to {question} at {address}", answer.missing))
        }
        Some(Judged::Later(code)) => Err(format!("{question} at {address} is refused: {code}")),
        Some(Judged::BadQuestion) => Err(format!("{question} at {address} is called malformed")),
        None => Err(format!("{question} at {address} is not answered in time")),
    }
}

/// Asks every node for its status. Returns those that answer, with their addresses: a node that is down does not.
async fn ask_all<'a>(visitor: &'a Visitor, client: &Client, clock: &Arc<dyn Clock>) -> Vec<(&'a str, Status)> {
    let asked = visitor.addresses().iter().map(|address| async move {
        let request = Request::get("/status").body(Bytes::new()).ok()?;
        let answer = client.send(address, request, clock.now() + PATIENCE).await.ok()?;
        Some((&**address, serde_json::from_slice(answer.body()).ok()?))
    });
    futures_util::future::join_all(asked).await.into_iter().flatten().collect()
}

/// Judges a census: each node holds its share and nothing else, and the leader knows it.
fn count(nodes: &[(&str, Status)]) -> Result<(), String> {
    let leader = nodes.iter().map(|(_, node)| node).find(|node| node.role == "leader").ok_or("no node leads")?;
    let workers: Vec<&str> = leader.workers.iter().map(|worker| &*worker.id).collect();
    for (_, node) in nodes {
        let share = if node.node.id != leader.node.id {
            shards_of(&node.node.id, &workers, SHARDS).count()
        } else if leader_holds_everything(workers.len()) {
            usize::from(SHARDS)
        } else {
            0
        };
        let (id, held) = (&node.node.id, node.index.shards);
        if held != share {
            return Err(format!(
                "{id} holds {held} shards and its share is {share}, more than {} s after the last fault; the workers are \
                 {workers:?}",
                SETTLED_WITHIN.as_secs()
            ));
        }
    }
    match &leader.shares {
        Some(shares) if shares.whole == usize::from(SHARDS) && shares.shards == shares.whole => Ok(()),
        shares => Err(format!("the leader of {workers:?} does not know that all shards are whole: {shares:?}")),
    }
}
