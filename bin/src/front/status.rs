//! Route `/status`: the state of this node, and of the cluster as this node sees it.

use std::time::SystemTime;

use bytes::Bytes;
use http::{Response, StatusCode};
use rolecall::http::json;
use rolecall::{Fence, Leader, Observer, Role, Status};
use serde::Serialize;

use super::{Identity, health, rfc3339};
use crate::search::SearchStatus;
use crate::search::holdings::IndexSize;
use crate::search::shares::SharesReport;

#[derive(Serialize)]
struct Answer<'a> {
    cluster: &'a str,
    node: Node<'a>,
    role: Role,
    since: String,
    as_of: String,
    epoch: Option<u64>,
    incarnation: Option<String>,
    valid_for_ms: Option<u128>,
    leader: Option<LeaderSeen<'a>>,
    workers: Vec<Node<'a>>,
    skipped: Skipped,
    /// On a leader: how many shards are on how many nodes.
    shares: Option<SharesReport>,
    index: Option<IndexSize>,
    store: Store,
}

#[derive(Serialize)]
struct Node<'a> {
    id: &'a str,
    address: &'a str,
}

#[derive(Serialize)]
struct LeaderSeen<'a> {
    id: &'a str,
    address: Option<&'a str>,
    epoch: Option<u64>,
    foreign: bool,
}

#[derive(Serialize)]
struct Skipped {
    candidates: u32,
    members: u32,
}

#[derive(Serialize)]
struct Store {
    kind: &'static str,
    state: &'static str,
    since: String,
    /// What the store denies to this node.
    denied: Vec<String>,
}

pub(super) fn answer(identity: &Identity, observer: &Observer, search: Option<SearchStatus>) -> Response<Bytes> {
    let status = observer.status();
    let now = SystemTime::now();
    // Check the term last, right before the answer is written, so that a reader of `leader` can rely on it.
    let term = observer.term().filter(|_| status.role == Role::Leader);
    let fence = term.map(|(fence, _)| fence).or(status.floor);
    json(
        StatusCode::OK,
        &Answer {
            cluster: &identity.cluster,
            node: Node { id: &identity.id, address: &identity.address },
            role: role(&status, term.is_some()),
            since: rfc3339::format(status.role_since),
            as_of: rfc3339::format(now),
            epoch: fence.map(|fence| fence.epoch.0),
            incarnation: fence.map(incarnation),
            valid_for_ms: term.map(|(_, left)| left.as_millis()),
            leader: status.leader.as_ref().map(leader),
            workers: workers(&status),
            skipped: Skipped { candidates: status.skipped_candidates, members: status.skipped_members },
            shares: search.and_then(|search| search.shares).filter(|_| term.is_some()),
            index: search.map(|search| search.index),
            store: Store {
                kind: identity.store,
                state: status.store.name(),
                since: rfc3339::format(status.store_since),
                denied: health::told(&status.denied),
            },
        },
    )
}

/// Role to show: a leader whose term is not valid has none, even if its driver has not noticed yet.
fn role(status: &Status, term_holds: bool) -> Role {
    match status.role {
        Role::Leader if !term_holds => Role::None,
        Role::Leader | Role::Worker | Role::None => status.role,
    }
}

/// Workers to show. Only a leader keeps the list up to date, so other nodes show none.
fn workers(status: &Status) -> Vec<Node<'_>> {
    let members = if status.role == Role::Leader { &status.workers.members[..] } else { &[] };
    members.iter().map(|member| Node { id: &member.key.id, address: &member.address }).collect()
}

fn incarnation(fence: Fence) -> String {
    format!("{:016x}", fence.incarnation.0)
}

fn leader(leader: &Leader) -> LeaderSeen<'_> {
    match leader {
        Leader::Node { id, address, epoch } => {
            LeaderSeen { id, address: Some(address), epoch: Some(epoch.0), foreign: false }
        }
        Leader::Foreign { id } => LeaderSeen { id, address: None, epoch: None, foreign: true },
    }
}
