//! Applications that want to lead now and then.

use std::time::Duration;

use rolecall_core::{Directory, Role};

use crate::three;
use rolecall_core::testing::{Cluster, LATENCY};

#[test]
fn a_leader_that_wants_to_lead_no_more_hands_over_in_good_order_and_works_on() {
    let mut cluster = three();
    let (before, _) = cluster.node("a").term().expect("it leads");

    cluster.stand("a", false);
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
    cluster.settle();

    assert_eq!(cluster.role("a"), Role::Worker);
    assert_eq!(cluster.queue().len(), 2, "a stands for nothing");
    assert_eq!(cluster.listed(Directory::Workers), ["a", "c"]);
    let (after, _) = cluster.node("b").term().expect("it leads");
    assert!(after.is_newer_than(before));
}

#[test]
fn a_leader_that_gives_its_term_up_and_wants_another_goes_behind_those_who_wait() {
    let mut cluster = three();

    cluster.stand("a", false);
    cluster.stand("a", true);
    cluster.until("b led", |cluster| cluster.role("b") == Role::Leader);
    cluster.settle();

    assert!(cluster.candidate_of("a") > cluster.candidate_of("c"));
    for (gone, next) in [("b", "c"), ("c", "a")] {
        cluster.crash(gone);
        cluster.until("the next led", |cluster| cluster.role(next) == Role::Leader);
    }
}

#[test]
fn a_node_that_does_not_want_to_lead_works_and_leads_once_it_wants_to() {
    let mut cluster = Cluster::new();
    cluster.start("a");
    cluster.stand("a", false);
    cluster.run(Duration::from_secs(40));
    assert_eq!((cluster.role("a"), cluster.queue()), (Role::Worker, Vec::new()));
    assert_eq!(cluster.listed(Directory::Workers), ["a"]);

    cluster.stand("a", true);
    cluster.run(40 * LATENCY);
    assert_eq!(cluster.leaders(), ["a"]);
}
