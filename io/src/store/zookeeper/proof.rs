//! Which session a connection serves.
//!
//! The client knows the number of its session from its first connection only, and a server may answer a reconnect with
//! another session. Then the old one's ephemeral znodes may stand for a while and name the old session as their owner, so
//! reading them proves nothing. What a connection creates is owned by the session that it serves: that proves it, and it
//! proves that the store commits what this session writes.

use futures_util::future::join;
use tracing::warn;

use super::failure::Failure;
use super::request::{Desk, EPHEMERAL};

/// What the first write on a new connection showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// The connection serves this session.
    Same,
    /// It serves another session.
    Other,
    /// It could not be found out.
    Unclear(Failure),
}

/// Creates an ephemeral znode, and looks at who owns it. One that an earlier connection has left is deleted first.
pub(super) async fn prove(desk: Desk) -> Proof {
    let path = desk.layout.probe(desk.session);
    let (_, created) = join(desk.client.delete(&path, None), desk.create(&path, b"", &EPHEMERAL)).await;
    match created {
        Ok((stat, _)) if desk.owns(&stat) => Proof::Same,
        Ok(_) => Proof::Other,
        Err(failure) => Proof::Unclear(failure),
    }
}

/// Deletes the znode that [`prove`] has created. If that fails the next proof deletes it, or it goes with the session.
pub(super) async fn tidy(desk: Desk) {
    let path = desk.layout.probe(desk.session);
    if let Err(error) = desk.client.delete(&path, None).await {
        warn!(path, %error, "left for now");
    }
}
