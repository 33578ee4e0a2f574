//! Judges of the promises that a single state cannot show.
//!
//! [`Observer`] watches one node over time; [`ClusterObserver`] compares nodes, with the true time that only a simulator knows.

mod cluster;
mod entries;
mod node;
mod part;
mod queue;

pub use cluster::ClusterObserver;
pub use node::Observer;
pub use part::keeps_to_its_part;
