//! A register guarded by the epoch, on real stores: nodes that lose them, clients that go on asking, and a history that must
//! have an order.

mod redis;
mod zookeeper;

use core::time::Duration;

/// Time after which a leader gives up a request to the storage: longer than a session or a lease, so that the writes of an
/// isolated leader come late.
const PATIENCE: Duration = Duration::from_secs(8);
