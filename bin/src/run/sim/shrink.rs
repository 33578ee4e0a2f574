//! From a run in which something is not as promised to the smallest like it.

use core::mem::discriminant;
use core::time::Duration;
use std::time::Instant;

use rolecall_core::Time;
use rolecall_io::sim::{Broken, Finding, Run};

use super::scenario::Scenario;

/// How long it is tried.
const PATIENCE: Duration = Duration::from_secs(60);

/// The smallest scenario that was found in which the same seed breaks the same promise, with its run.
pub(super) fn shrink(scenario: &Scenario, failed: Run) -> (Scenario, Run) {
    let Some(finding) = failed.finding.clone() else { return (scenario.clone(), failed) };
    let mut shrinking =
        Shrinking { seed: failed.seed, finding, until: Instant::now() + PATIENCE, best: (scenario.clone(), failed) };
    shrinking.shorten();
    shrinking.have_fewer_nodes();
    shrinking.have_fewer_faults();
    shrinking.shorten();
    shrinking.best
}

struct Shrinking {
    seed: u64,
    finding: Finding,
    until: Instant,
    best: (Scenario, Run),
}

impl Shrinking {
    /// Takes `scenario` if it fails in the same way.
    fn attempt(&mut self, scenario: Scenario) -> bool {
        if Instant::now() >= self.until {
            return false;
        }
        let run = scenario.simulation(self.seed).run();
        let same = run.finding.as_ref().is_some_and(|finding| is_alike(&finding.what, &self.finding.what));
        if same {
            self.best = (scenario, run);
        }
        same
    }

    /// What comes after the finding does not matter, and neither does a time in which nothing goes wrong.
    fn shorten(&mut self) {
        let (scenario, run) = &self.best;
        let found = run.finding.as_ref().map_or(scenario.length, |finding| finding.at.since(Time::ZERO));
        let plan = scenario.plan(self.seed);
        let last = plan.faults().last().map_or(Duration::ZERO, |(at, _)| *at);
        let lengths =
            [last + Duration::from_millis(1), last + Duration::from_secs(10), found + Duration::from_millis(10)];
        for length in lengths {
            if length < self.best.0.length && self.attempt(Scenario { length, ..self.best.0.clone() }) {
                return;
            }
        }
    }

    fn have_fewer_nodes(&mut self) {
        for nodes in 1..self.best.0.nodes {
            if self.attempt(Scenario { nodes, ..self.best.0.clone() }) {
                return;
            }
        }
    }

    /// Leaves out ever smaller parts of the plan (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input").
    fn have_fewer_faults(&mut self) {
        let mut places = self.best.0.places(self.seed);
        let mut part = places.len().div_ceil(2).max(1);
        loop {
            let mut from = 0;
            while from < places.len() {
                let to = (from + part).min(places.len());
                let fewer: Vec<_> = places[..from].iter().chain(&places[to..]).copied().collect();
                if self.attempt(Scenario { only: Some(fewer.clone()), ..self.best.0.clone() }) {
                    places = fewer;
                } else {
                    from = to;
                }
            }
            if part == 1 {
                return;
            }
            part = part.div_ceil(2);
        }
    }
}

fn is_alike(one: &Broken, other: &Broken) -> bool {
    match (one, other) {
        (Broken::Promise(one), Broken::Promise(other)) => one == other,
        _ => discriminant(one) == discriminant(other),
    }
}
