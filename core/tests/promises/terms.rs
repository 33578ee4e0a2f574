//! Epochs, floors and incarnations.

use rolecall_core::store::{Act, Fault};
use rolecall_core::{Epoch, Event, Fence, Incarnation, Leader};

use crate::three;
use rolecall_core::testing::{Cluster, LATENCY};

fn fence(cluster: &Cluster, name: &str) -> Fence {
    cluster.node(name).term().expect("it leads").0
}

// P12
#[test]
fn every_term_has_a_higher_epoch_than_all_before_it() {
    let mut cluster = three();
    let mut last = fence(&cluster, "a");
    for _ in 0..6 {
        let leader = cluster.leaders()[0];
        cluster.expire(leader);
        cluster.settle();
        let next = fence(&cluster, cluster.leaders()[0]);
        assert!(next.is_newer_than(last));
        last = next;
    }
}

// P14
#[test]
fn everyone_knows_the_floor_and_a_starting_node_reads_it_where_no_leader_is_left() {
    let mut cluster = three();
    let term = fence(&cluster, "a");
    for name in ["a", "b", "c"] {
        cluster.crash(name);
    }
    cluster.start("d");
    cluster.until("read it", |cluster| cluster.node("d").floor().is_some());
    assert_eq!(cluster.node("d").floor(), Some(term));
}

// P14
#[test]
fn a_forged_epoch_locks_nobody_out() {
    let mut cluster = three();
    let term = fence(&cluster, "a");
    for name in ["a", "b", "c"] {
        let forged = Fence { incarnation: term.incarnation, epoch: Epoch(u64::MAX) };
        cluster.deliver(name, Event::FenceSeen { fence: forged });
        let alien = Fence { incarnation: Incarnation(1), epoch: Epoch(u64::MAX) };
        cluster.deliver(name, Event::FenceSeen { fence: alien });
        cluster.run(20 * LATENCY);
        assert_eq!(cluster.node(name).floor(), Some(term));
    }
    cluster.settle();
    assert_eq!(fence(&cluster, "a"), term);
}

// P14
#[test]
fn a_newer_epoch_that_is_real_is_believed_once_the_record_says_so() {
    let mut cluster = three();
    cluster.host("c").holds = Some(|event| matches!(event, Event::Noticed { .. }));
    cluster.crash("a");
    cluster.until("b led", |cluster| cluster.leaders() == ["b"]);
    let newer = fence(&cluster, "b");
    assert!(newer.is_newer_than(cluster.node("c").floor().expect("it has one")));
    cluster.deliver("c", Event::FenceSeen { fence: newer });
    cluster.run(5 * LATENCY);
    assert_eq!(cluster.node("c").floor(), Some(newer));
}

#[test]
fn a_store_restarted_with_its_data_keeps_the_incarnation() {
    let mut cluster = three();
    let before = fence(&cluster, "a");
    cluster.fault(Fault::Restart { keep_data: true });
    cluster.settle();
    let after = fence(&cluster, cluster.leaders()[0]);
    assert_eq!(after.incarnation, before.incarnation);
}

#[test]
fn a_store_restarted_empty_has_another_incarnation_that_replaces_every_floor() {
    let mut cluster = three();
    let before = fence(&cluster, "a");
    cluster.fault(Fault::Restart { keep_data: false });
    cluster.settle();
    let after = fence(&cluster, cluster.leaders()[0]);
    assert_ne!(after.incarnation, before.incarnation);
    cluster.run(40_000 * LATENCY);
    for name in ["a", "b", "c"] {
        assert_eq!(cluster.node(name).floor(), Some(after));
    }
}

#[test]
fn a_deleted_record_takes_no_floor_away_and_is_written_again_with_its_incarnation() {
    let mut cluster = three();
    let term = fence(&cluster, "a");
    // The record is written anew under the same sessions, which happens only after an operator deleted it.
    cluster.operator(Act::DeleteTerm);
    cluster.cut("c");
    cluster.heal("c");
    cluster.settle();
    assert_eq!(cluster.node("c").floor(), Some(term), "a missing record takes no floor away");
    cluster.expire("a");
    cluster.settle();
    let next = fence(&cluster, cluster.leaders()[0]);
    assert_eq!(next.incarnation, term.incarnation, "whoever knows the incarnation writes it again");
    assert!(next.is_newer_than(term));
}

#[test]
fn a_leader_that_is_cut_off_names_itself_for_as_long_as_its_term_holds() {
    let mut cluster = three();
    let (fence, until) = cluster.node("a").term().expect("it leads");
    cluster.cut("a");
    cluster.run(20 * LATENCY);
    let leader = cluster.node("a").leader();
    assert!(
        matches!(&leader, Some(Leader::Node { id, epoch, .. }) if &**id == "a" && *epoch == fence.epoch),
        "{leader:?}"
    );
    cluster.run(until.since(cluster.now) + LATENCY);
    assert_eq!(cluster.node("a").leader(), None);
}
