//! Division of the documents into shards.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::hash::StableHash;

/// Number of a shard: one of the fixed number of parts into which the documents are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShardId(pub u16);

impl ShardId {
    /// Shard of the document at `path`, out of `shards`. The path is relative to the documents folder and written with `/`.
    ///
    /// # Panics
    /// If `shards` is zero, which [`Settings`](super::Settings) does not allow.
    #[must_use]
    pub fn of(path: &str, shards: u16) -> Self {
        let rest = StableHash::new().part(path.as_bytes()).finish() % u64::from(shards);
        Self(u16::try_from(rest).expect("a remainder is smaller than its divisor, which is a u16"))
    }

    /// Every shard, in order.
    pub fn all(shards: u16) -> impl Iterator<Item = Self> {
        (0..shards).map(Self)
    }
}

impl fmt::Display for ShardId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04}", self.0)
    }
}
