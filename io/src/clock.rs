//! The seam to time.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use std::time::SystemTime;

use rolecall_core::Time;

/// A clock that counts suspended time and never goes back, with an alarm on the same axis.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Now, on the node's own axis. Cheap: the gate reads it before every leader-only act.
    fn now(&self) -> Time;

    /// Ends once [`now`](Self::now) has reached `time`, also when the machine slept meanwhile.
    fn sleep_until(&self, time: Time) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>>;

    /// The time of day, for people: it decides nothing.
    fn wall(&self) -> SystemTime;
}
