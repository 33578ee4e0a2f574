//! Summary of many runs, as text.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;

use rolecall::Family;
use rolecall_sim::{Broken, FaultKind, Run};

/// Totals and extremes of many runs.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    nodes: u8,
    election: Family,
    cores: usize,
    pub(super) runs: u64,
    pub(super) simulated: Duration,
    pub(super) took: Duration,
    steps: u64,
    faults: BTreeMap<FaultKind, u64>,
    terms: u64,
    leaderless: (Duration, u64),
    rest_after: (Duration, u64),
    tally: BTreeMap<String, u64>,
    /// Runs in which a promise was broken, by seed.
    pub(super) failed: BTreeMap<u64, Run>,
}

impl Summary {
    pub(super) fn new(nodes: u8, election: Family, cores: usize) -> Self {
        Self {
            nodes,
            election,
            cores,
            runs: 0,
            simulated: Duration::ZERO,
            took: Duration::ZERO,
            steps: 0,
            faults: BTreeMap::new(),
            terms: 0,
            leaderless: (Duration::ZERO, 0),
            rest_after: (Duration::ZERO, 0),
            tally: BTreeMap::new(),
            failed: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, run: Run) {
        self.runs += 1;
        self.simulated += run.simulated;
        self.steps += run.steps;
        self.terms += u64::from(run.terms);
        for (kind, count) in &run.faults {
            *self.faults.entry(*kind).or_default() += u64::from(*count);
        }
        for (what, count) in &run.tally {
            *self.tally.entry(what.clone()).or_default() += count;
        }
        self.leaderless = self.leaderless.max((run.leaderless, run.seed));
        self.rest_after = self.rest_after.max((run.rest_after, run.seed));
        if run.finding.is_some() {
            self.failed.insert(run.seed, run);
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, election, cores, runs, simulated, took, .. } = self;
        let plural =
            |count: u64, one: &str, more: &str| format!("{} {}", grouped(count), if count == 1 { one } else { more });
        let (count, of) = (plural(*runs, "run", "runs"), plural(u64::from(*nodes), "node", "nodes"));
        writeln!(formatter, "{count} of {of}, which elect by a {election}")?;
        writeln!(
            formatter,
            "time        {} simulated in {}: {} times faster than real time on {}",
            length(*simulated),
            length(*took),
            times(*simulated, *took),
            plural(u64::try_from(*cores).unwrap_or(u64::MAX), "core", "cores"),
        )?;
        let faults: Vec<_> = self.faults.iter().map(|(kind, count)| format!("{kind} {}", grouped(*count))).collect();
        let all = grouped(self.faults.values().sum());
        let faults = if faults.is_empty() { "none".into() } else { format!("{all}: {}", faults.join(", ")) };
        writeln!(formatter, "faults      {faults}")?;
        writeln!(formatter, "steps       {} by nodes, every promise checked after each", grouped(self.steps))?;
        writeln!(
            formatter,
            "elections   {}; the longest time without a leader was {:.1} s (seed {})",
            plural(self.terms, "term", "terms"),
            self.leaderless.0.as_secs_f64(),
            self.leaderless.1,
        )?;
        writeln!(
            formatter,
            "rest        reached within {:.1} s of the last fault (seed {})",
            self.rest_after.0.as_secs_f64(),
            self.rest_after.1,
        )?;
        let tally: Vec<_> = self.tally.iter().map(|(what, count)| format!("{} {what}", grouped(*count))).collect();
        let wrong = self.failed.values().filter(|run| is_wrong_answer(run)).count();
        let wrong = if wrong == 0 { "none".into() } else { wrong.to_string() };
        writeln!(formatter, "answers     {}, {wrong} wrong", tally.join(", ").as_str()).and_then(|()| {
            let failed = u64::try_from(self.failed.len()).unwrap_or(u64::MAX);
            let failed = if failed == 0 { "none".into() } else { plural(failed, "run", "runs") };
            writeln!(formatter, "violations  {failed}")
        })
    }
}

fn is_wrong_answer(run: &Run) -> bool {
    run.finding.as_ref().is_some_and(|finding| matches!(finding.what, Broken::Answer(_)))
}

/// Ratio of simulated time to real time, as a whole number with grouped digits.
pub(super) fn times(simulated: Duration, took: Duration) -> String {
    grouped(u64::try_from(simulated.as_millis() / took.as_millis().max(1)).unwrap_or(u64::MAX))
}

/// A number with its digits in groups of three.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn length(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, _) => format!("{:.1} s", duration.as_secs_f64()),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{} h {minutes} min", grouped(hours)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_lengths_are_readable() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0.25, 59.0, 61.0, 3_725.0].map(|seconds| length(Duration::from_secs_f64(seconds))),
            ["0.2 s", "59.0 s", "1 min 1 s", "1 h 2 min"]
        );
        assert_eq!(times(Duration::from_secs(5_000), Duration::from_secs(4)), "1,250");
    }

    #[test]
    fn a_summary_names_the_seeds_of_its_extremes_and_counts_what_failed() {
        let mut summary = Summary::new(3, Family::Lease, 2);
        for (seed, leaderless) in [(4, 3), (5, 7), (6, 1)] {
            let faults = [(FaultKind::Crash, 2)].into();
            let tally = [("full answers".to_owned(), 1_000)].into();
            let leaderless = Duration::from_secs(leaderless);
            summary.add(Run { seed, leaderless, faults, tally, terms: 2, ..Run::default() });
        }
        let text = summary.to_string();

        for part in [
            "3 runs of 3 nodes, which elect by a lease",
            "6: crash 6",
            "6 terms",
            "7.0 s (seed 5)",
            "3,000 full answers",
            "violations  none",
        ] {
            assert!(text.contains(part), "`{part}` in:\n{text}");
        }
    }
}
