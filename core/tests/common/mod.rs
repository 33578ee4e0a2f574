//! Parts of random worlds that do not depend on what the store keeps.

use std::time::Duration;

use rolecall_core::store::{Act, Aim, Wish};
use rolecall_core::testing::{Cluster, Dice, TIMEOUT};
use rolecall_core::{Epoch, Event, Fence, Incarnation, OnSuspend};

/// The nodes of every world.
pub(crate) const NODES: [&str; 5] = ["a", "b", "c", "d", "e"];
/// Number of faults in a world.
pub(crate) const FAULTS: u64 = 30;
/// Longest time until rest, in seconds: two session timeouts for what the store still believes, or for a lease that may
/// have been lost, and the longest hold-off.
const QUIET_S: u64 = 75;

/// Plays the world of a seed, and again with its trace if that fails.
pub(crate) fn play(seed: u64, world: impl Fn(u64, bool) + std::panic::RefUnwindSafe) {
    if std::panic::catch_unwind(|| world(seed, false)).is_err() {
        eprintln!("the world of seed {seed} again, with its trace:");
        world(seed, true);
    }
}

pub(crate) fn start(cluster: &mut Cluster, name: &'static str, dice: &mut Dice) {
    let on_suspend = dice.pick(&[OnSuspend::Hold, OnSuspend::Hold, OnSuspend::StepDown]);
    cluster.start_with(name, |config| {
        config.on_suspend = on_suspend;
        config.settings = Some("64 shards".into());
    });
}

/// An operator wishes something of a leader, of the present one in most cases, or spoils the record of wishes.
pub(crate) fn wish(cluster: &mut Cluster, dice: &mut Dice) {
    let newest = cluster.hosts.values().filter_map(|host| host.node.floor()).max_by_key(|floor| floor.epoch);
    let Some(mut term) = newest else { return };
    match dice.below(6) {
        0 => term.epoch.0 = dice.below(term.epoch.0 + 2),
        1 => term.incarnation = Incarnation(dice.below(9)),
        _ => {}
    }
    let aim = if dice.one_in(4) { Aim::Handover { to: dice.pick(&NODES).into() } } else { Aim::Resign };
    let wish = Wish { id: dice.below(1_000), aim, term, author: "an operator".into(), verdict: None };
    cluster.operator(match dice.below(10) {
        0 => Act::SpoilWish,
        1 => Act::DeleteWish,
        _ => Act::Wish(Box::new(wish)),
    });
}

/// Shows a node a fence that no term has.
pub(crate) fn forge(cluster: &mut Cluster, name: &'static str, dice: &mut Dice) {
    let present = cluster.node(name).floor().map(|floor| floor.incarnation);
    let incarnation = present.filter(|_| !dice.one_in(4)).unwrap_or(Incarnation(dice.below(9)));
    cluster.deliver(name, Event::FenceSeen { fence: Fence { incarnation, epoch: Epoch(1_000_000) } });
}

/// Lets time pass until everything is at rest, and stays so.
pub(crate) fn come_to_rest(cluster: &mut Cluster, seed: u64) {
    let mut seconds = 0;
    while cluster.at_rest().is_err() && seconds < QUIET_S {
        cluster.run(Duration::from_secs(1));
        seconds += 1;
    }
    cluster.run(2 * TIMEOUT);
    if let Err(what) = cluster.at_rest() {
        panic!("seed {seed}: {what}\n{}", cluster.trace.text());
    }
}
