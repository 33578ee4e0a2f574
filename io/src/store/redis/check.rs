//! Tries a server out before a node is started, so that what only an operator can mend is said at once.

use core::time::Duration;

use tokio::time::Instant;

use super::failure::Failure;
use super::layout::Layout;
use super::script;
use super::target::Target;
use crate::store::{Participant, RedisUrl};

/// Tries a server out for `participant`, for at most `limit`. Returns the reason why it cannot be used; `None` if it can, or
/// cannot be reached yet.
///
/// # Panics
/// Outside a tokio runtime.
pub async fn check(url: &RedisUrl, participant: &Participant, limit: Duration) -> Option<String> {
    let target = Target::new(url.clone(), None, Layout::new(&participant.cluster));
    let deadline = Instant::now() + limit;
    let tried = async {
        let (connection, _pushes) = target.connect(deadline).await?;
        connection.trial(&script::TRIAL, deadline).await
    };
    match tried.await {
        Ok(failed) if failed.is_empty() => None,
        Ok(failed) => {
            let commands: Vec<_> = failed.iter().map(|(command, _)| command.as_str()).collect();
            let (_, first) = &failed[0];
            Some(format!("scripts may not call {}: {}", commands.join(", "), first.trim_start_matches("ERR ")))
        }
        Err(Failure::Useless { refused: true, reason } | Failure::Denied { reason }) => Some(reason),
        // A node goes on trying.
        Err(
            Failure::Useless { refused: false, .. }
            | Failure::Moved { .. }
            | Failure::Silent { .. }
            | Failure::Refused(_)
            | Failure::Unknown
            | Failure::SessionOver,
        ) => None,
    }
}
