//! Nodes die for good, or come and go, in clusters of every size: the answers become whole again, and stay so, and in the end
//! each node holds its share and nothing else.

use core::time::Duration;

use rolecall::{Entropy, SeededEntropy};
use rolecall_cli::search_sim::{SETTLED_WITHIN, census};
use rolecall_sim::{Fault, Plan, Simulation};

use super::{B, RIGHT, SECOND, count, settled, well};

/// Runs until long after `end`, by when all faults are over.
fn heals(simulation: Simulation, plan: Plan, end: Duration) {
    let run = well(&simulation.visitor(census).plan(plan).length(end + SETTLED_WITHIN + 10 * SECOND));
    let (whole, censuses) = (count(&run, "answers whole again"), count(&run, "censuses"));
    assert!(count(&run, RIGHT) > 50 && whole > 20 && censuses > 2, "seed {}: {:?}", run.seed, run.tally);
}

#[test]
fn workers_of_a_cluster_that_has_long_settled_die_one_after_the_other_for_good() {
    for (nodes, dead) in [(6, 2), (7, 3), (12, 4)] {
        // The first of them indexed everything while it was alone, and has let go of it since.
        let mut at = Duration::from_secs(75) + SECOND * u32::from(nodes);
        let mut plan = Plan::calm();
        for node in B..B + dead {
            plan = plan.then(at, Fault::Crash { node, down: Fault::FOR_GOOD });
            at += 10 * SECOND;
        }
        heals(settled(nodes), plan, at);
    }
}

#[test]
fn whatever_dies_for_good_or_comes_and_goes_the_answers_become_whole_and_each_node_holds_its_share() {
    for (nodes, seeds) in [(3, 0..4), (6, 10..14), (7, 20..24), (12, 30..33)] {
        for seed in seeds {
            heals(settled(nodes).seed(seed), deaths(seed, nodes), LAST_FAULT + LONGEST_ABSENCE);
        }
    }
}

/// Time before which all faults of [`deaths`] begin.
const LAST_FAULT: Duration = Duration::from_secs(40);
/// Longest time for which a node is away that comes back.
const LONGEST_ABSENCE: Duration = Duration::from_secs(15);

/// Any number of nodes die for good, and others come and go meanwhile. The last node that is left comes back in any case.
fn deaths(seed: u64, nodes: u8) -> Plan {
    let mut entropy = SeededEntropy::new(seed);
    let mut below = |bound: u64| entropy.bits() % bound;
    let mut plan = Plan::calm();
    let dead = 1 + below(u64::from(nodes) - 1);
    let others = below(2 * u64::from(nodes));
    for number in 0..dead + others {
        let node = u8::try_from(below(nodes.into())).expect("there are few nodes");
        let at = Duration::from_millis(10_000 + below(30_000));
        let absence = Duration::from_millis(1 + below(15_000));
        let down = if number < dead { Fault::FOR_GOOD } else { absence };
        plan = plan.then(at, if below(2) == 0 { Fault::Crash { node, down } } else { Fault::PowerLoss { node, down } });
    }
    plan
}
