//! The measurements, as a table in Markdown.

use core::fmt;
use std::collections::BTreeMap;

use crate::measure::{Cut, Gap, Kind};

/// The measurements of all runs.
#[derive(Default)]
pub(crate) struct Table(BTreeMap<(u64, Kind, Cut), Vec<Gap>>);

impl Table {
    pub(crate) fn add(&mut self, session_s: u64, kind: Kind, cut: Cut, gap: Gap) {
        self.0.entry((session_s, kind, cut)).or_default().push(gap);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "Seconds with two leaders (negative: seconds without a leader), least / median / most:\n")?;
        writeln!(
            formatter,
            "| sessions of | contender | {} is cut off | {} is cut off | runs |",
            Cut::Follower,
            Cut::Leader
        )?;
        writeln!(formatter, "| --- | --- | --- | --- | --- |")?;
        for ((session, kind, cut), follower) in &self.0 {
            let Some(leader) = self.0.get(&(*session, *kind, Cut::Leader)).filter(|_| *cut == Cut::Follower) else {
                continue;
            };
            let (runs, follower, leader) = (follower.len(), Overlaps::of(follower), Overlaps::of(leader));
            writeln!(formatter, "| {session} s | {kind} | {follower} | {leader} | {runs} |")?;
        }
        Ok(())
    }
}

/// Overlaps in seconds: least, median, most.
struct Overlaps([f64; 3]);

impl Overlaps {
    fn of(gaps: &[Gap]) -> Self {
        let mut overlaps: Vec<_> = gaps.iter().map(|gap| gap.overlap()).collect();
        overlaps.sort_by(f64::total_cmp);
        let last = overlaps.len() - 1;
        let median = f64::midpoint(overlaps[last / 2], overlaps[last.div_ceil(2)]);
        Self([overlaps[0], median, overlaps[last]])
    }
}

impl fmt::Display for Overlaps {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([least, median, most]) = self;
        write!(formatter, "{least:+.1} / {median:+.1} / {most:+.1}")
    }
}
