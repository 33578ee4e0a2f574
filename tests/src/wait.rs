//! Waiting for a condition instead of for a time.

use core::future::Future;
use core::time::Duration;

use tokio::time::{Instant, sleep};

/// How long a test waits for what must happen: far longer than it takes on the slowest machine.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Asks `condition` again and again until it gives something, and returns that.
///
/// # Panics
/// If it gave nothing within [`LIMIT`]; `what` says in the message what was waited for.
pub async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut condition: impl FnMut() -> F) -> T {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(value) = condition().await {
            return value;
        }
        assert!(Instant::now() < end, "waited {LIMIT:?} in vain: {what}");
        sleep(Duration::from_millis(10)).await;
    }
}
