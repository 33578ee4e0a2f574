//! Exploration of one world by a test.

use rolecall_model::{Ending, Faults, Options, run};

/// Explores a world and compares the number of states.
pub(crate) fn explore(options: &Options, faults: &str, states: u64) {
    let faults: Faults = faults.parse().expect("these are faults");
    let report = run(&Options { faults, ..options.clone() }, |_| ());
    let depth = report.violated.as_ref().map_or(report.found.depth, |violated| violated.depth as u64);
    assert_eq!(report.ending, Ending::Exhausted, "depth {depth}: {faults}: {report}");
    // A mutant is caught by a promise that it breaks, not by having other states.
    if !cfg!(rolecall_mutants) {
        assert_eq!(report.found.unique, states, "{faults}: {report}");
    }
}
