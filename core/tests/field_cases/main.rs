//! Cases from the field: events that made widely used systems misbehave. Each test bears the id of its case. The
//! promises about nodes and the cluster are judged on every step as well.

mod creation;
mod events;
mod leadership;
mod lease;
mod ownership;
mod registry;
mod shutdown;
mod waiting;

use rolecall_core::Role;
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

fn leads(cluster: &Cluster, name: &str) -> bool {
    cluster.role(name) == Role::Leader && cluster.leaders() == [name]
}
