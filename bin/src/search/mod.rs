//! Document search, the application that a cluster runs.
//!
//! ```text
//! documents ──hash of the path──► shards ──rendezvous──► workers (two for each shard)
//!
//! query ─► leader: statistics of every shard ─► the weight of each word ─► best of every shard ─► merged, snippets
//!                  round 1, names snapshots                round 2, on those snapshots           round 3
//! ```
//! Hits, their order and their scores are the same to the last bit for any number of workers: weights are computed once,
//! from the statistics of the whole cluster, and every score is a sum in one fixed order.

mod analysis;
pub mod coordinator;
pub mod documents;
mod effort;
mod exact;
mod hash;
pub mod holdings;
pub mod index;
pub mod placement;
pub mod query;
mod service;
mod settings;
mod shard;
pub mod shares;
#[cfg(test)]
mod testing;
mod usual;
mod weights;
mod whole;
pub mod wire;
mod worker;

pub use analysis::analyzer;
pub use exact::Exact;
pub use service::{RESCAN, SearchHandler, SearchOptions, SearchService, SearchStatus, Work};
pub use settings::{BadRanking, BadShards, Ranking, Settings, Shards};
pub use shard::ShardId;
pub use weights::{Statistics, Weights};

/// Path at which a leader answers searches.
pub const SEARCH_PATH: &str = "/search";
/// Path at which a worker answers its share of one.
pub const TASK_PATH: &str = "/task";
