//! The state of the shards in numbers.

use serde::{Deserialize, Serialize};

use crate::search::placement::COPIES;
use crate::search::shard::ShardId;
use crate::search::wire::Holding;

/// How many shards are on how many nodes. `whole`, `one_copy` and `none` add up to `shards`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharesReport {
    /// All shards.
    pub shards: usize,
    /// Shards of which there are two copies, or as many as there can be.
    pub whole: usize,
    /// Shards of which a copy is being built, whatever other copies there are.
    pub building: usize,
    /// Shards on one node that could be on two.
    pub one_copy: usize,
    /// Shards that nobody holds.
    pub none: usize,
}

impl SharesReport {
    /// Counts the copies among what the nodes hold. `holders` is the number of nodes that are to hold each shard.
    pub(super) fn of<'a>(shards: u16, holders: usize, held: impl Iterator<Item = &'a Holding>) -> Self {
        let (mut copies, mut building) = (vec![0_usize; shards.into()], vec![false; shards.into()]);
        for holding in held {
            for shard in holding.holds.iter().filter(|shard| shard.0 < shards) {
                copies[usize::from(shard.0)] += 1;
            }
            for shard in holding.building.iter().filter(|shard| shard.0 < shards) {
                building[usize::from(shard.0)] = true;
            }
        }
        let enough = holders.clamp(1, COPIES);
        let mut report = Self { shards: copies.len(), ..Self::default() };
        for shard in ShardId::all(shards).map(|shard| usize::from(shard.0)) {
            report.whole += usize::from(copies[shard] >= enough);
            report.one_copy += usize::from(copies[shard] > 0 && copies[shard] < enough);
            report.none += usize::from(copies[shard] == 0);
            report.building += usize::from(building[shard]);
        }
        report
    }
}
