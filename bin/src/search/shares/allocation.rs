//! Plan: the share of each worker and of the leader.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::mutant::Mutant;
use crate::search::placement::{COPIES, choices};
use crate::search::shard::ShardId;
use crate::search::wire::{Holding, Share};

/// Present plan, with the facts that it was made from.
#[derive(Debug, Default)]
pub(super) struct Allocation {
    /// Number of the plan within the term.
    pub(super) plan: u64,
    /// Workers among which the plan divides the shards.
    pub(super) workers: BTreeSet<Arc<str>>,
    /// Workers that must hold each shard, the first choice first.
    pub(super) chosen: Vec<Vec<Arc<str>>>,
    pub(super) shares: BTreeMap<Arc<str>, Arc<Share>>,
    /// Share of the leader itself.
    pub(super) own: Arc<Share>,
}

/// True if the leader of this many workers holds everything itself, so that the last of up to three nodes answers at once.
#[must_use]
pub const fn leader_holds_everything(workers: usize) -> bool {
    workers <= COPIES
}

impl Allocation {
    /// Divides the shards among `workers`. `held` names the shards that each of them holds; it may also name other workers. The
    /// number of the plan rises if any share changes.
    pub(super) fn renew(
        &mut self,
        shards: u16,
        workers: BTreeSet<Arc<str>>,
        held: &BTreeMap<&Arc<str>, &Holding>,
        own: &Holding,
    ) {
        if self.chosen.is_empty() || (workers != self.workers && !Mutant::FirstWorkersKept.lives()) {
            let ids: Vec<&str> = workers.iter().map(|id| &**id).collect();
            let chosen = |shard| choices(shard, &ids).into_iter().map(Arc::from).collect();
            self.chosen = ShardId::all(shards).map(chosen).collect();
        }
        self.workers = workers;
        let mut shares: BTreeMap<_, _> = self.workers.iter().map(|id| (Arc::clone(id), Share::default())).collect();
        let mut leader = Share::default();
        if leader_holds_everything(self.workers.len()) {
            leader.hold = ShardId::all(shards).collect();
        }
        for choice in 0..COPIES {
            for (shard, chosen) in ShardId::all(shards).zip(&self.chosen) {
                // First choices come first and are built first, so a new cluster is whole after half of the work.
                let share = chosen.get(choice).and_then(|id| shares.get_mut(id));
                share.into_iter().for_each(|share| {
                    share.hold.push(shard);
                    share.first += usize::from(choice == 0);
                });
            }
        }
        for (shard, chosen) in ShardId::all(shards).zip(&self.chosen) {
            self.keep(shard, chosen, held, own, (&mut shares, &mut leader));
        }
        self.adopt(shares, leader);
    }

    /// While a worker lacks a shard of its share, others keep the copies that they have.
    fn keep(
        &self,
        shard: ShardId,
        chosen: &[Arc<str>],
        held: &BTreeMap<&Arc<str>, &Holding>,
        own: &Holding,
        (shares, leader): (&mut BTreeMap<Arc<str>, Share>, &mut Share),
    ) {
        let has = |id: &Arc<str>| held.get(id).is_some_and(|holding| holding.has(shard));
        let mut lacking = chosen.iter().filter(|id| !has(id)).count();
        for id in self.workers.iter().filter(|id| has(id) && !chosen.contains(id)) {
            if lacking > 0 {
                lacking -= 1;
                shares.entry(Arc::clone(id)).or_default().keep.push(shard);
            }
        }
        let is_leaders = leader_holds_everything(self.workers.len());
        if lacking > 0 && own.has(shard) && !is_leaders {
            leader.keep.push(shard);
        }
    }

    fn adopt(&mut self, mut shares: BTreeMap<Arc<str>, Share>, mut leader: Share) {
        let is_same = |now: &Share, before: &Share| Share { plan: before.plan, ..now.clone() } == *before;
        let unchanged = self.plan > 0
            && is_same(&leader, &self.own)
            && shares.len() == self.shares.len()
            && shares.iter().zip(&self.shares).all(|((id, now), (known, before))| id == known && is_same(now, before));
        if unchanged {
            return;
        }
        self.plan += 1;
        shares.values_mut().chain([&mut leader]).for_each(|share| share.plan = self.plan);
        self.shares = shares.into_iter().map(|(id, share)| (id, Arc::new(share))).collect();
        self.own = Arc::new(leader);
    }

    /// Number of nodes that must hold each shard.
    pub(super) fn holders(&self) -> usize {
        self.workers.len().min(COPIES) + usize::from(leader_holds_everything(self.workers.len()))
    }
}
