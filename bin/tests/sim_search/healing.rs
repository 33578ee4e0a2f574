//! Nodes die for good, or come and go, in clusters of every size: the answers become whole again, and stay so.

use core::time::Duration;

use rolecall_cli::search::sim::WHOLE_WITHIN;
use rolecall_sim::{Fault, Plan};

use super::{B, RIGHT, SECOND, count, settled, well};

#[test]
fn workers_of_a_cluster_that_has_long_settled_die_one_after_the_other_for_good() {
    for (nodes, dead) in [(6, 2), (7, 3), (12, 4)] {
        // The first of them indexed everything while it was alone, and has let go of it since.
        let mut at = Duration::from_secs(75) + SECOND * u32::from(nodes);
        let mut plan = Plan::calm();
        for node in B..B + dead {
            plan = plan.then(at, dies(node));
            at += 10 * SECOND;
        }
        let run = well(&settled(nodes).plan(plan).length(at + WHOLE_WITHIN + 15 * SECOND));
        assert!(count(&run, RIGHT) > 50, "{nodes} nodes: {:?}", run.tally);
    }
}

fn dies(node: u8) -> Fault {
    Fault::Crash { node, down: Fault::FOR_GOOD }
}
