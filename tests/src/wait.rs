//! Waiting for a condition instead of a time.

use core::future::Future;
use core::time::Duration;

use tokio::time::{Instant, sleep};

/// Longest time that a test waits for an event that must happen: far longer than it takes on the slowest machine.
pub const LIMIT: Duration = Duration::from_secs(180);

/// Calls `condition` until it returns a value, and returns that.
///
/// # Panics
/// If it returns nothing within [`LIMIT`]; the message names the condition by `what`.
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
