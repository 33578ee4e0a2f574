//! The adapter for Apache ZooKeeper, 3.5 or later.

pub mod record;
pub mod znode;
