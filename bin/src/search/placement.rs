//! Placement of the shards on the workers.

use super::hash::StableHash;
use super::shard::ShardId;

/// Number of workers that hold each shard.
pub const COPIES: usize = 2;

/// Workers that hold `shard`, the first choice first: [`COPIES`] of them, or fewer if there are fewer workers.
///
/// Uses rendezvous hashing (Thaler and Ravishankar 1998): every worker has a weight for every shard, and the workers with the
/// highest weights hold it. A worker that leaves moves only the shards that it had, and one that joins only those that it gets.
/// `workers` are ids, each once, in any order. A worker that comes back under its id gets its shards back.
#[must_use]
pub fn choices<'a>(shard: ShardId, workers: &[&'a str]) -> Vec<&'a str> {
    let mut weighed: Vec<_> = workers.iter().map(|&worker| (weight(shard, worker), worker)).collect();
    weighed.sort_unstable_by(|one, other| other.cmp(one));
    weighed.dedup();
    weighed.into_iter().take(COPIES).map(|(_, worker)| worker).collect()
}

/// Shards that `worker` holds, as first or second choice.
pub fn shards_of<'a>(worker: &'a str, workers: &'a [&'a str], shards: u16) -> impl Iterator<Item = ShardId> + 'a {
    ShardId::all(shards).filter(move |&shard| choices(shard, workers).contains(&worker))
}

fn weight(shard: ShardId, worker: &str) -> u64 {
    StableHash::new().part(worker.as_bytes()).number(u64::from(shard.0)).finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{COPIES, choices, shards_of};
    use crate::search::shard::ShardId;

    const SHARDS: u16 = 64;

    fn workers() -> impl Strategy<Value = Vec<String>> {
        prop::collection::btree_set("[a-z]{1,8}-[0-9]{1,3}", 1..12).prop_map(|ids| ids.into_iter().collect())
    }

    fn borrowed(workers: &[String]) -> Vec<&str> {
        workers.iter().map(String::as_str).collect()
    }

    proptest! {
        #[test]
        fn choices_are_distinct_and_as_many_as_there_can_be(workers in workers(), shard in 0..SHARDS) {
            let workers = borrowed(&workers);
            let chosen = choices(ShardId(shard), &workers);
            prop_assert_eq!(chosen.len(), workers.len().min(COPIES));
            prop_assert!(chosen.len() < 2 || chosen[0] != chosen[1]);
        }

        #[test]
        fn the_order_of_the_workers_does_not_matter(workers in workers(), shard in 0..SHARDS) {
            let forwards = borrowed(&workers);
            let backwards: Vec<_> = forwards.iter().rev().copied().collect();
            prop_assert_eq!(choices(ShardId(shard), &forwards), choices(ShardId(shard), &backwards));
        }

        #[test]
        fn a_worker_that_leaves_moves_only_its_own_shards(workers in workers(), index in any::<prop::sample::Index>()) {
            let all = borrowed(&workers);
            let gone = *index.get(&all);
            let rest: Vec<_> = all.iter().copied().filter(|&worker| worker != gone).collect();
            for shard in ShardId::all(SHARDS) {
                let (before, after) = (choices(shard, &all), choices(shard, &rest));
                if before.contains(&gone) {
                    let kept = before.iter().find(|&&worker| worker != gone);
                    prop_assert_eq!(after.first(), kept);
                } else {
                    prop_assert_eq!(before, after);
                }
            }
        }
    }

    #[test]
    fn the_shards_are_spread_over_the_workers() {
        let workers = ["node-a", "node-b", "node-c", "node-d"];
        for worker in workers {
            let kept = shards_of(worker, &workers, 1024).count();
            assert!((410..=614).contains(&kept), "{worker} keeps {kept} of 2 * 1024 copies, a fair share is 512");
        }
    }
}
