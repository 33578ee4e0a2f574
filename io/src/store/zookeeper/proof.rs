//! Proves which session a connection serves.
//!
//! The client knows the number of its session from its first connection only, and a server may answer a reconnect with
//! another session. The old session's ephemeral znodes may then stay for a while and name the old session as their owner,
//! so reading them proves nothing. A znode created over the connection is owned by the session that the connection
//! serves. So creating one proves which session that is, and that the store commits what this session writes.

use futures_util::future::join;
use tracing::warn;

use super::failure::Failure;
use super::request::{EPHEMERAL, SessionHandle};

/// Result of the first write on a new connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// The connection serves this session.
    Same,
    /// The connection serves another session.
    Other,
    /// The result of the write is not known, or it failed.
    Unclear(Failure),
}

/// Creates an ephemeral znode and checks its owner. A znode that an earlier connection left behind is deleted first.
pub(super) async fn prove(handle: SessionHandle) -> Proof {
    let path = handle.layout.probe(handle.session);
    let (_, created) = join(handle.delete(&path), handle.create(&path, b"", &EPHEMERAL)).await;
    match created {
        Ok((stat, _)) if handle.owns(&stat) => Proof::Same,
        Ok(_) => Proof::Other,
        Err(failure) => Proof::Unclear(failure),
    }
}

/// Deletes the znode that [`prove`] created. If that fails, the next proof deletes it, or it goes with the session.
pub(super) async fn tidy(handle: SessionHandle) {
    let path = handle.layout.probe(handle.session);
    if let Err(failure) = handle.delete(&path).await {
        warn!(path, ?failure, "cannot delete the probe for now; it goes away with the session at the latest");
    }
}
