//! Judges of the promises that a single state cannot show.
//!
//! [`NodeJudge`] watches one node over time; [`ClusterJudge`] compares nodes, with the true time that only a simulator knows.

mod cluster;
mod entries;
mod lease;
mod node;
mod part;
mod queue;
mod wish;

pub use cluster::ClusterJudge;
pub use node::NodeJudge;
pub use part::keeps_to_its_part;
