//! The design's rules for role transitions, for staying right about leadership, and for each promise.

mod candidacy;
mod extremes;
mod foreign;
mod identity;
mod operators;
mod part;
mod roles;
mod settings;
mod shutdown;
mod terms;
mod times;
mod wishes;
mod writes;

use rolecall_core::testing::Cluster;

/// Three nodes at rest, led by `a`.
fn three() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.start_in_order(&["a", "b", "c"]);
    cluster.settle();
    assert_eq!(cluster.leaders(), ["a"]);
    cluster.fresh_trace();
    cluster
}

/// Checks that the trace contains these pieces, in this order.
fn in_order(cluster: &Cluster, pieces: &[&str]) {
    let text = cluster.trace.text();
    let mut rest = text;
    for piece in pieces {
        let Some((_, after)) = rest.split_once(piece) else { panic!("no {piece:?} where it should be in\n{text}") };
        rest = after;
    }
}
