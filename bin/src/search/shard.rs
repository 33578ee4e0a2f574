//! Which part of the documents a document belongs to.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::hash::StableHash;

/// One of the fixed number of parts into which the documents fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShardId(pub u16);

impl ShardId {
    /// The shard of the document at `path`, relative to the documents folder and written with `/`, among `shards`.
    ///
    /// # Panics
    /// If `shards` is zero, which [`Settings`](super::Settings) does not allow.
    #[must_use]
    pub fn of(path: &str, shards: u16) -> Self {
        let rest = StableHash::new().part(path.as_bytes()).finish() % u64::from(shards);
        Self(u16::try_from(rest).expect("a rest is smaller than its divisor, which is a u16"))
    }

    /// All of them.
    pub fn all(shards: u16) -> impl Iterator<Item = Self> {
        (0..shards).map(Self)
    }
}

impl fmt::Display for ShardId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04}", self.0)
    }
}
