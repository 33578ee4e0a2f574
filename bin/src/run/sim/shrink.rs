//! Shrinks a failing run to the smallest one that fails in the same way.

use core::mem::discriminant;
use core::time::Duration;
use std::time::Instant;

use rolecall::Time;
use rolecall_sim::{Broken, Finding, Run, Simulation};

use super::scenario::Scenario;

/// Time after which shrinking stops.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the smallest scenario found in which the same seed breaks the same promise, with its run. `simulate` makes the
/// simulation of a scenario and a seed.
pub(super) fn shrink(
    scenario: &Scenario,
    failed: Run,
    simulate: impl Fn(&Scenario, u64) -> Simulation,
) -> (Scenario, Run) {
    let Some(finding) = failed.finding.clone() else { return (scenario.clone(), failed) };
    let (seed, until) = (failed.seed, Instant::now() + PATIENCE);
    let mut shrinking = Shrinking { seed, finding, until, simulate, best: (scenario.clone(), failed) };
    shrinking.shorten();
    shrinking.have_fewer_nodes();
    shrinking.have_fewer_faults();
    shrinking.shorten();
    shrinking.best
}

struct Shrinking<F> {
    seed: u64,
    finding: Finding,
    until: Instant,
    simulate: F,
    best: (Scenario, Run),
}

impl<F: Fn(&Scenario, u64) -> Simulation> Shrinking<F> {
    /// Runs `scenario`, and keeps it as the best if it fails in the same way.
    fn attempt(&mut self, scenario: Scenario) -> bool {
        if Instant::now() >= self.until {
            return false;
        }
        let run = (self.simulate)(&scenario, self.seed).run();
        let same = run.finding.as_ref().is_some_and(|finding| is_alike(&finding.what, &self.finding.what));
        if same {
            self.best = (scenario, run);
        }
        same
    }

    /// Cuts off the time after the finding, and time in which no fault is injected.
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

    /// Removes ever smaller parts of the plan (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input").
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

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::Request;
    use rolecall::Family;
    use rolecall_sim::{FaultKind, Visitor, adder};

    use super::*;
    use crate::cli::Application;

    const SEED: u64 = 3;

    /// Visitor that reports a wrong answer as soon as a node that has answered before is silent.
    async fn is_easily_offended(visitor: Visitor) -> Result<(), String> {
        let (client, clock) = (visitor.client(), visitor.clock());
        let mut has_answered = vec![false; visitor.addresses().len()];
        loop {
            for (address, has_answered) in visitor.addresses().iter().zip(&mut has_answered) {
                let request = Request::get("/sum?1").body(Bytes::new()).map_err(|error| error.to_string())?;
                match client.send(address, request, clock.now() + Duration::from_secs(2)).await {
                    Ok(_) => (*has_answered, _) = (true, visitor.is_served()),
                    Err(_) if *has_answered => return Err(format!("{address} is silent")),
                    Err(_) => {}
                }
            }
            clock.sleep_until(clock.now() + Duration::from_millis(100)).await;
        }
    }

    fn simulate(scenario: &Scenario, seed: u64) -> Simulation {
        let simulation = Simulation::new(adder::node).visitor(is_easily_offended);
        simulation.nodes(scenario.nodes).seed(seed).length(scenario.length).plan(scenario.plan(seed))
    }

    #[test]
    fn a_failing_run_is_shrunk_until_nothing_can_be_removed() {
        let kinds = vec![FaultKind::Crash, FaultKind::Expire, FaultKind::Lag, FaultKind::Resign];
        let (application, length) = (Application::default(), Duration::from_secs(60));
        let scenario = Scenario { application, election: Family::Queue, nodes: 3, kinds, length, only: None };
        let failed = simulate(&scenario, SEED).run();
        assert!(scenario.places(SEED).len() > 5 && failed.finding.is_some(), "there is something to shrink");

        let (smaller, run) = shrink(&scenario, failed, simulate);

        let finding = run.finding.clone().expect("it still fails");
        assert!(matches!(finding.what, Broken::Answer(_)), "{finding}");
        assert_eq!(smaller.nodes, 1);
        assert_eq!(smaller.places(SEED).len(), 1, "{:?}", smaller.plan(SEED));
        assert!(smaller.length < scenario.length);
        assert_eq!(simulate(&smaller, SEED).run(), run, "the shrunk scenario repeats the run");
        let without = Scenario { only: Some(Vec::new()), ..smaller };
        assert_eq!(simulate(&without, SEED).run().finding, None, "the one fault that is left is to blame");
    }

    #[test]
    fn a_run_that_does_not_fail_is_left_alone() {
        let (application, length) = (Application::default(), Duration::from_secs(10));
        let scenario =
            Scenario { application, election: Family::Queue, nodes: 2, kinds: Vec::new(), length, only: None };
        let run = simulate(&scenario, SEED).run();

        assert_eq!(shrink(&scenario, run.clone(), simulate), (scenario, run));
    }
}
