//! `rolecall sim`: deterministic simulations of whole clusters.

mod campaign;
mod compare;
mod progress;
mod report;
mod scenario;
mod shrink;
mod summary;

use rolecall_sim::{Finding, Run};

use self::campaign::Campaign;
use self::scenario::Scenario;
use super::memory::Budget;
use crate::cli::{Failure, Sim, print};

/// Seeds that are run by default: 0 to 99.
const SEEDS: core::ops::RangeInclusive<u64> = 0..=99;

/// Runs the simulations and prints a summary.
///
/// # Errors
/// [`Failure::Usage`] if a fault is not known. [`Failure::Failed`] if a promise is broken, with the seed, the promise and the
/// command that repeats the run; or if the report cannot be written. [`Failure::Unfinished`] if the memory was full before
/// the last seed.
pub fn sim(options: &Sim) -> Result<(), Failure> {
    if options.compare {
        return compare::compare(options);
    }
    let scenario = Scenario::new(options)?;
    let seeds = options.seeds.as_ref().map_or(SEEDS, |seeds| seeds.0.clone());
    let first = *seeds.start();
    let budget = Budget::new(options.world.memory);
    let Campaign { summary, is_cut_short } = campaign::run(&scenario, seeds, budget)?;
    print(&summary.to_string())?;
    let failed = summary.failed.into_values().next();
    let (scenario, seed, finding) = match failed {
        None => (scenario, first, None),
        Some(run) => {
            let before = scenario.places(run.seed).len();
            let (smaller, run) = shrink::shrink(&scenario, run, Scenario::simulation);
            print_shrunk(&scenario, before, &smaller, &run)?;
            (smaller, run.seed, run.finding)
        }
    };
    if let Some(path) = &options.report {
        let run = scenario.simulation(seed).with_history(true).traced_from(core::time::Duration::ZERO).run();
        report::write(path, &scenario, &run)?;
        print(&format!("report      of seed {seed}: {}\n", path.display()))?;
    }
    match finding {
        None if is_cut_short => Err(budget.exceeded()),
        None => Ok(()),
        Some(finding) => Err(broken(&scenario, seed, &finding)),
    }
}

fn print_shrunk(scenario: &Scenario, before: usize, smaller: &Scenario, run: &Run) -> Result<(), Failure> {
    let after = smaller.places(run.seed).len();
    print(&format!(
        "shrunk      seed {} from {} nodes and {before} faults in {} s to {} and {after} in {:.1} s\n",
        run.seed,
        scenario.nodes,
        scenario.length.as_secs(),
        smaller.nodes,
        smaller.length.as_secs_f64(),
    ))?;
    for (at, fault) in smaller.plan(run.seed).faults() {
        print(&format!("            {:>9.3} s  {fault:?}\n", at.as_secs_f64()))?;
    }
    Ok(())
}

fn broken(scenario: &Scenario, seed: u64, finding: &Finding) -> Failure {
    Failure::Failed(format!("seed {seed}: {finding}; repeat it with: {}", scenario.command(seed)))
}
