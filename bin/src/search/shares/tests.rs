use std::collections::BTreeSet;

use proptest::prelude::*;
use rolecall::Time;

use super::{SILENT_AFTER, Shares};
use crate::search::coordinator::Worker;
use crate::search::placement::COPIES;
use crate::search::shard::ShardId;
use crate::search::wire::{Holding, Share};

const SHARDS: u16 = 16;

fn workers(ids: &[&str]) -> Vec<Worker> {
    ids.iter().map(|&id| Worker { id: id.into(), address: format!("{id}:80").into() }).collect()
}

fn holding(shards: impl IntoIterator<Item = ShardId>) -> Holding {
    Holding { holds: shards.into_iter().collect(), ..Holding::default() }
}

fn share(shares: &Shares, worker: &str) -> Share {
    (*shares.of(worker).expect("the worker has a share")).clone()
}

/// Each worker builds its whole share.
fn build_all(shares: &Shares, ids: &[&str], now: Time) {
    for id in ids {
        let Share { hold, keep, .. } = share(shares, id);
        shares.heard(id, holding(hold.into_iter().chain(keep)), now);
    }
}

#[test]
fn every_shard_has_two_holders_and_the_first_choices_are_built_first() {
    let (shares, ids, now) = (Shares::new(SHARDS), ["a", "b", "c", "d"], Time::ZERO);
    shares.see(&workers(&ids), now);
    let mut first = BTreeSet::new();
    let mut copies = 0;
    for id in ids {
        let hold = share(&shares, id).hold;
        copies += hold.len();
        let own = hold.iter().take_while(|shard| &*shares.to_ask(**shard)[0] == id);
        first.extend(own.copied());
    }
    assert_eq!(copies, usize::from(SHARDS) * COPIES);
    assert_eq!(first.len(), usize::from(SHARDS), "whatever comes first in a share is a first choice");
    assert!(shares.of_leader().hold.is_empty());
    assert_eq!(shares.report(now).none, usize::from(SHARDS));
}

#[test]
fn a_worker_that_goes_makes_a_new_plan_and_one_that_stays_makes_none() {
    let (shares, now) = (Shares::new(SHARDS), Time::ZERO);
    shares.see(&workers(&["a", "b", "c", "d"]), now);
    build_all(&shares, &["a", "b", "c", "d"], now);
    let plan = shares.plan();
    shares.see(&workers(&["d", "c", "b", "a"]), now);
    build_all(&shares, &["a", "b", "c", "d"], now);
    assert_eq!(shares.plan(), plan);
    assert_eq!(shares.report(now).whole, usize::from(SHARDS));

    shares.see(&workers(&["a", "d"]), now);
    assert!(shares.plan() > plan);
    assert_eq!(shares.of("b"), None);
    assert_eq!(share(&shares, "a").hold.len(), usize::from(SHARDS), "two workers hold everything");
    assert!(shares.report(now).none > 0, "what only b and c had is lost");
    assert_eq!(shares.of_leader().hold.len(), usize::from(SHARDS), "and so does the leader of two");
}

#[test]
fn whoever_has_a_shard_keeps_it_and_is_asked_for_it_until_those_who_are_to_hold_it_have_it() {
    let (shares, now) = (Shares::new(SHARDS), Time::ZERO);
    shares.see(&workers(&["a", "b", "c"]), now);
    build_all(&shares, &["a", "b", "c"], now);
    let joined = ["a", "b", "c", "d", "e", "f"];
    shares.see(&workers(&joined), now);
    for shard in ShardId::all(SHARDS) {
        let asked = shares.to_ask(shard);
        let Share { hold, keep, .. } = share(&shares, &asked[0]);
        assert!(["a", "b", "c"].contains(&&*asked[0]), "{shard}: a holder of old is asked first, not {asked:?}");
        assert!(hold.contains(&shard) || keep.contains(&shard), "{shard}: {} keeps it", asked[0]);
    }
    assert_eq!(shares.report(now).whole, usize::from(SHARDS), "old copies count");

    build_all(&shares, &joined, now);
    for id in joined {
        let Share { hold, keep, .. } = share(&shares, id);
        assert!(keep.is_empty(), "{id} keeps nothing that others hold");
        let fair = usize::from(SHARDS) * COPIES / joined.len();
        assert!(hold.len() <= 3 * fair, "{id} holds {} shards", hold.len());
    }
}

#[test]
fn a_leader_that_had_everything_keeps_what_its_workers_lack_and_no_more() {
    let (shares, now, ids) = (Shares::new(SHARDS), Time::ZERO, ["a", "b", "c"]);
    shares.own(holding(ShardId::all(SHARDS)), now);
    assert_eq!(shares.report(now).whole, usize::from(SHARDS), "alone it is as whole as it can be");
    shares.see(&workers(&ids), now);
    assert_eq!((shares.of_leader().hold.len(), shares.of_leader().keep.len()), (0, usize::from(SHARDS)));
    assert_eq!(shares.report(now).one_copy, usize::from(SHARDS));

    build_all(&shares, &ids, now);
    assert_eq!((shares.of_leader().hold.len(), shares.of_leader().keep.len()), (0, 0));
}

#[test]
fn a_worker_that_is_registered_and_silent_loses_its_share_until_it_answers() {
    let (shares, ids) = (Shares::new(SHARDS), ["a", "b", "c", "d"]);
    shares.see(&workers(&ids), Time::ZERO);
    let (soon, later) = (Time::ZERO + SILENT_AFTER / 2, Time::ZERO + SILENT_AFTER);
    build_all(&shares, &["a", "b", "c"], soon);
    shares.see(&workers(&ids), later);
    assert_eq!(shares.of("d"), None);
    build_all(&shares, &["a", "b", "c"], later);
    assert_eq!(shares.report(later).whole, usize::from(SHARDS));

    shares.heard("d", Holding::default(), later);
    assert!(!share(&shares, "d").hold.is_empty());
}

proptest! {
    /// Any workers come and go, and any of them build, or lose, what they have.
    #[test]
    fn no_share_is_more_than_it_has_to_be_and_nothing_that_is_held_is_let_go_of_too_early(
        steps in prop::collection::vec((0_usize..12, any::<bool>(), any::<bool>()), 1..60),
    ) {
        let names: Vec<String> = (0..12).map(|number| format!("node-{number}")).collect();
        let shares = Shares::new(SHARDS);
        let mut there: BTreeSet<&str> = BTreeSet::new();
        for (worker, is_there, builds) in steps {
            let id = &*names[worker];
            if is_there { there.insert(id) } else { there.remove(id) };
            let ids: Vec<&str> = there.iter().copied().collect();
            shares.see(&workers(&ids), Time::ZERO);
            if is_there {
                let Share { hold, keep, .. } = share(&shares, id);
                shares.heard(id, if builds { holding(hold.into_iter().chain(keep)) } else { Holding::default() }, Time::ZERO);
            }
            for shard in ShardId::all(SHARDS) {
                let of: Vec<_> = ids.iter().map(|id| share(&shares, id)).collect();
                prop_assert_eq!(of.iter().filter(|share| share.hold.contains(&shard)).count(), ids.len().min(COPIES));
                prop_assert!(of.iter().filter(|share| share.keep.contains(&shard)).count() <= COPIES);
            }
        }
    }
}
