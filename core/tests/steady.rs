//! A cluster at rest costs no allocation.

use rolecall_core::store::Notice;
use rolecall_core::testing::Steady;
use rolecall_core::{Event, Health, Node, Role};

fn allocations(work: impl FnOnce()) -> u64 {
    allocation_counter::measure(work).count_total
}

#[test]
fn heartbeats_and_wakes_of_a_leader_allocate_nothing() {
    leads_without_allocating(Steady::leader(20));
}

#[test]
fn renewals_and_wakes_of_a_leader_by_a_lease_allocate_nothing() {
    leads_without_allocating(Steady::lease_holder(20));
}

fn leads_without_allocating(mut leader: Steady) {
    assert_eq!(
        (leader.node.role(), leader.node.health(), leader.node.workers().len()),
        (Role::Leader, Health::Serving, 20)
    );
    let counted = allocations(|| {
        for _ in 0..20 {
            leader.beat();
            leader.event(Event::Wake);
        }
    });
    assert_eq!(counted, 0);
    assert!(leader.out.count >= 40, "each heartbeat is sent, and extends the validity");
    assert!(leader.node.term().is_some());
}

#[test]
fn a_notice_of_a_change_and_the_question_it_leads_to_allocate_nothing() {
    let mut leader = Steady::leader(20);
    let mut asked = leader.clone();
    // Until the next listing of everything is due. The requests are sent, and notices come meanwhile.
    let counted = allocations(|| {
        while asked.node.next_deadline().is_some_and(|(_, timer)| timer != rolecall_core::Timer::Relist) {
            asked.beat();
        }
        asked.wake();
        if let Some(id) = asked.out.newest {
            asked.event(Event::Noticed { id, notice: Notice::Changed });
        }
    });
    assert_eq!(counted, 0);
    assert!(asked.out.count > leader.out.count);
    leader.event(Event::Wake);
}

#[test]
fn a_waiter_at_rest_allocates_nothing() {
    waits_without_allocating(Steady::waiter());
}

#[test]
fn a_waiter_for_a_lease_at_rest_allocates_nothing() {
    waits_without_allocating(Steady::lease_waiter());
}

fn waits_without_allocating(mut waiter: Steady) {
    assert_eq!((waiter.node.role(), waiter.node.health()), (Role::Worker, Health::Serving));
    let counted = allocations(|| {
        for _ in 0..20 {
            waiter.event(Event::Wake);
        }
    });
    assert_eq!((counted, waiter.out.count), (0, 0));
}

#[test]
fn a_node_fits_into_less_than_two_kilobytes() {
    assert!(size_of::<Node>() < 2_048, "{}", size_of::<Node>());
}
