//! What one event costs a node at rest: a leader with 20 workers, and a waiter. The aim is under 100 ns and no allocation.

#[path = "../tests/common/steady.rs"]
mod steady;

use criterion::{Criterion, criterion_group, criterion_main};
use rolecall_core::store::Notice;
use rolecall_core::{Event, Node, OpId, Slot};
use steady::Steady;

fn events(criterion: &mut Criterion) {
    report();
    let mut leader = Steady::leader(20);
    criterion.bench_function("leader: heartbeat sent and answered (two events)", |bench| bench.iter(|| leader.beat()));
    let mut leader = Steady::leader(20);
    criterion.bench_function("leader: wake", |bench| {
        bench.iter(|| leader.node.handle(leader.now, Event::Wake, &mut leader.out))
    });
    let mut leader = Steady::leader(20);
    let id = OpId { link: rolecall_core::Link(1), slot: Slot::Queue, sequence: 0 };
    criterion.bench_function("leader: notice of an old watch", |bench| {
        bench.iter(|| {
            let event = Event::Noticed { id, notice: Notice::Changed };
            leader.node.handle(leader.now, event, &mut leader.out);
        });
    });
    let mut waiter = Steady::waiter();
    criterion.bench_function("waiter: wake", |bench| {
        bench.iter(|| waiter.node.handle(waiter.now, Event::Wake, &mut waiter.out))
    });
}

/// What a clock does not show.
fn report() {
    let mut leader = Steady::leader(20);
    let counted = allocation_counter::measure(|| (0..1_000).for_each(|_| leader.beat()));
    println!("a node is {} bytes", size_of::<Node>());
    println!("2,000 events of a leader at rest: {} allocations", counted.count_total);
}

criterion_group!(benches, events);
criterion_main!(benches);
