//! `rolecall resign`: a planned change of leader, as a wish that the leader answers in the store.

#[cfg(test)]
mod tests;
mod wisher;

use core::time::Duration;
use std::sync::Arc;

use rolecall::Leader;
use rolecall::store::{Aim, Participant};

use self::wisher::{End, Wisher};
use super::{block_on, try_out};
use crate::cli::{Failure, Resign, StoreAt, print};

/// Session timeout of the command itself.
const SESSION: Duration = Duration::from_secs(10);

/// Asks the leader to give up its term, and waits for the next one.
///
/// # Errors
/// If nobody leads, the leader refuses, or there is no new leader in time.
pub fn resign(options: &Resign) -> Result<(), Failure> {
    let only = match (options.own, &options.id) {
        (false, _) => None,
        (true, Some(id)) => Some(id.to_string().into()),
        (true, None) => return Err(Failure::Usage("--own: name this node with --id or ROLECALL_ID".into())),
    };
    change(&options.store, Aim::Resign, only, options.timeout)
}

fn change(at: &StoreAt, aim: Aim, only: Option<Arc<str>>, limit: Duration) -> Result<(), Failure> {
    at.require_built()?;
    if at.store.is_embedded() {
        return Err(Failure::Usage(
            "--store memory: this store is inside the node's own process, which ends its term when it is told to end (SIGTERM)"
                .into(),
        ));
    }
    block_on(run(at, aim, only, limit))
}

async fn run(at: &StoreAt, aim: Aim, only: Option<Arc<str>>, limit: Duration) -> Result<(), Failure> {
    let (store, cluster) = (&at.store, at.cluster.to_string());
    let participant = Participant::new(&cluster, "wish", SESSION);
    try_out(store, &participant, limit.min(SESSION)).await?;
    let mut connection =
        store.open(participant).map_err(|error| Failure::Failed(format!("--store {store}: {error}")))?;
    let wisher = Wisher::new(&mut *connection, aim, author()).only(only);
    let end = wisher.run(limit).await;
    match &end {
        End::Led { before, after } => {
            print(&format!("{} in cluster {cluster}, after {}\n", told(after), named(before)))
        }
        End::Elsewhere(leader) => print(&format!("{} in cluster {cluster}, so nobody is asked\n", told(leader))),
        End::Nobody
        | End::Foreign(_)
        | End::Malformed
        | End::Denied
        | End::Refused(_)
        | End::Other(_)
        | End::Late { .. } => Err(Failure::Failed(format!("--store {store}, cluster {cluster}: {}", why(&end, limit)))),
    }
}

/// A leader in words.
fn told(leader: &Leader) -> String {
    match leader {
        Leader::Node { id, address, epoch } => format!("{id} at {address} leads with epoch {}", epoch.0),
        Leader::Foreign { id } => format!("{id}, another kind of client, leads"),
    }
}

/// A leader that may lead no more.
fn named(leader: &Leader) -> String {
    match leader {
        Leader::Node { id, address, epoch } => format!("{id} at {address} with epoch {}", epoch.0),
        Leader::Foreign { id } => format!("{id}, another kind of client"),
    }
}

/// Reason why there was no change of leader.
fn why(end: &End, limit: Duration) -> String {
    match end {
        End::Led { after: leader, .. } | End::Elsewhere(leader) => told(leader),
        End::Nobody => format!("nobody has led for {}: see `rolecall status`", seconds(limit)),
        End::Foreign(id) => format!("{id} leads, another kind of client, which heeds no wishes"),
        End::Malformed => "the record `wish` in the store is not a wish: delete it".into(),
        End::Denied => "the store denies access to the records of this cluster, among them `wish`".into(),
        End::Refused(reason) => format!("refused by the leader: {reason}"),
        End::Other(author) => {
            format!("{author} wishes something of the leader that has no answer yet: try again later")
        }
        End::Late { leader: Some(leader), obeyed: false, withdrawn } => {
            let wish = if *withdrawn { "the wish is withdrawn" } else { "the wish could not be withdrawn" };
            format!("no answer within {}; {wish}; {}", seconds(limit), told(leader))
        }
        End::Late { leader: Some(leader), obeyed: true, .. } => {
            format!(
                "the leader agreed, but no other leads after {}; the last one seen: {}",
                seconds(limit),
                told(leader)
            )
        }
        End::Late { leader: None, .. } => format!("no connection within {}: check the address", seconds(limit)),
    }
}

fn seconds(limit: Duration) -> String {
    if limit.subsec_millis() == 0 { format!("{} s", limit.as_secs()) } else { format!("{} ms", limit.as_millis()) }
}

/// Who wishes: a person and a machine, for people.
fn author() -> String {
    let name = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "somebody".into());
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{name}@{}", host.trim())
}
