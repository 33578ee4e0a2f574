//! Shards that a node must hold, as its leader says. A worker never works them out by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::MutexGuard;

use rolecall::Fence;
use tokio::sync::watch;

use super::{Holdings, State};
use crate::mutant::Mutant;
use crate::search::shard::ShardId;
use crate::search::wire::{Holding, Share};

/// Shards that a node must hold.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Shards to hold, each with its place in the order in which they are built.
    pub(super) hold: BTreeMap<ShardId, usize>,
    /// Number of these shards, the first ones, of which the node is the first to be asked.
    pub(super) first: usize,
    /// Shards to keep where they are held.
    pub(super) keep: BTreeSet<ShardId>,
}

impl Wanted {
    pub(super) fn has(&self, shard: ShardId) -> bool {
        self.hold.contains_key(&shard) || self.keep.contains(&shard)
    }
}

/// Plan that a node follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Followed {
    fence: Fence,
    plan: u64,
}

impl Followed {
    /// True if this plan replaces `before`: the later plan of one term wins, and so does the later term. A fence of another
    /// incarnation was admitted as the present one, so it wins too.
    fn replaces(self, before: Self) -> bool {
        self.fence.incarnation != before.fence.incarnation
            || (self.fence.epoch, self.plan) > (before.fence.epoch, before.plan)
    }
}

impl Holdings {
    /// Follows the plan of the leader with this admitted fence, unless the node follows a later one.
    pub fn follow(&self, fence: Fence, share: &Share) {
        let plan = Followed { fence, plan: share.plan };
        let mut state = self.state();
        if state.followed.is_some_and(|before| !plan.replaces(before) || Mutant::FirstShareKept.lives()) {
            return;
        }
        state.followed = Some(plan);
        self.renew(state, share);
    }

    /// Holds this share from now on. Shards outside it are dropped after a while.
    pub fn hold(&self, share: &Share) {
        self.renew(self.state(), share);
    }

    fn renew(&self, mut state: MutexGuard<'_, State>, share: &Share) {
        let hold = share.hold.iter().enumerate().map(|(place, &shard)| (shard, place));
        let next = Wanted { hold: hold.collect(), first: share.first, keep: share.keep.iter().copied().collect() };
        let is_other = state.wanted.as_ref().is_none_or(|wanted| !wanted.hold.keys().eq(next.hold.keys()));
        for (shard, slot) in &mut state.slots {
            if next.has(*shard) {
                slot.unwanted_since = None;
            }
        }
        state.wanted = Some(next);
        state.changes += 1;
        drop(state);
        if is_other {
            self.renewals.send_modify(|count| *count += 1);
        }
    }

    /// Holds these shards from now on, and nothing else.
    pub fn want(&self, shards: impl IntoIterator<Item = ShardId>) {
        self.hold(&Share { hold: shards.into_iter().collect(), ..Share::default() });
    }

    /// Forgets the plan. Until the next one arrives, the node holds the shards that it has and builds none.
    pub fn await_orders(&self) {
        let mut state = self.state();
        (state.wanted, state.followed) = (None, None);
        state.changes += 1;
        state.slots.values_mut().for_each(|slot| slot.unwanted_since = None);
    }

    /// Number of changes of the wanted shards.
    pub(in crate::search) fn renewals(&self) -> watch::Receiver<u64> {
        self.renewals.subscribe()
    }

    /// True if the node must hold `shard`.
    #[must_use]
    pub fn wants(&self, shard: ShardId) -> bool {
        self.state().wanted.as_ref().is_some_and(|wanted| wanted.hold.contains_key(&shard))
    }

    /// Shards that the node holds, is building and lacks.
    #[must_use]
    pub fn holding(&self) -> Holding {
        let state = self.state();
        let wanted = state.wanted.iter().flat_map(|wanted| wanted.hold.keys());
        let absent: BTreeSet<_> = wanted.filter(|shard| !state.slots.contains_key(shard)).copied().collect();
        let (building, lacks) = absent.into_iter().partition(|shard| state.building.contains(shard));
        Holding { holds: state.slots.keys().copied().collect(), building, lacks }
    }

    /// Marks `shard` as being built until the mark is dropped.
    pub(in crate::search) fn building(&self, shard: ShardId) -> Building<'_> {
        self.state().building.insert(shard);
        Building { holdings: self, shard }
    }
}

/// Mark of a shard that is being built.
#[derive(Debug)]
pub(in crate::search) struct Building<'a> {
    holdings: &'a Holdings,
    shard: ShardId,
}

impl Drop for Building<'_> {
    fn drop(&mut self) {
        self.holdings.state().building.remove(&self.shard);
    }
}
