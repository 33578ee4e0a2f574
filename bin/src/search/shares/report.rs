//! Report on the state of the shards.

use serde::{Deserialize, Serialize};

use crate::search::placement::COPIES;
use crate::search::shard::ShardId;
use crate::search::wire::Holding;

/// Numbers of shards by copies. `whole`, `one_copy` and `none` add up to `shards`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharesReport {
    /// Number of all shards.
    pub shards: usize,
    /// Shards with two copies, or with as many as there can be.
    pub whole: usize,
    /// Shards of which a copy is being built, regardless of other copies.
    pub building: usize,
    /// Shards with one copy where there could be two.
    pub one_copy: usize,
    /// Shards without any copy.
    pub none: usize,
}

impl SharesReport {
    /// Counts the copies on the nodes. `holders` is the number of nodes that must hold each shard.
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
