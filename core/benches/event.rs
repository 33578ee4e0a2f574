//! Cost of one event for a node at rest: a leader with 20 workers, and a waiter. The aim is under 100 ns and no
//! allocation.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rolecall_core::store::Notice;
use rolecall_core::testing::Steady;
use rolecall_core::{Event, Link, Node, OpId, Slot};

/// Number of heartbeats between two full listings of a node.
const BEATS: u64 = 20;

fn events(criterion: &mut Criterion) {
    report();
    let leader = Steady::leader(20);
    let waiter = Steady::waiter();
    let mut group = criterion.benchmark_group("event");
    group.throughput(Throughput::Elements(2 * BEATS));
    group.bench_function("leader: 20 heartbeats, each sent and answered", |bench| {
        bench.iter_batched_ref(|| leader.clone(), beats, BatchSize::SmallInput);
    });
    group.throughput(Throughput::Elements(1));
    for (name, node) in [("leader: wake", &leader), ("waiter: wake", &waiter)] {
        let mut node = node.clone();
        group.bench_function(name, |bench| bench.iter(|| node.event_now(Event::Wake)));
    }
    let mut leader = leader.clone();
    let id = OpId { link: Link(1), slot: Slot::Election, sequence: 0 };
    group.bench_function("leader: notice of an old watch", |bench| {
        bench.iter(|| leader.event_now(Event::Noticed { id, notice: Notice::Changed }));
    });
}

fn beats(leader: &mut Steady) {
    (0..BEATS).for_each(|_| leader.beat());
}

/// Prints the numbers that a clock does not show.
fn report() {
    let mut leader = Steady::leader(20);
    let counted = allocation_counter::measure(|| beats(&mut leader));
    println!("a node is {} bytes", size_of::<Node>());
    println!("{} events of a leader at rest: {} allocations", 2 * BEATS, counted.count_total);
}

criterion_group!(benches, events);
criterion_main!(benches);
