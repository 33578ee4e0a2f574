//! The table.

use core::time::Duration;

use rolecall_core::testing::comparison::{Election, Run};

use super::super::summary::grouped;
use super::lengths::Lengths;
use super::scene::Scene;

/// Sums of one election's runs.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) election: Election,
    runs: u64,
    simulated: Duration,
    faults: u64,
    heals: Lengths,
    elections: u64,
    messages: u64,
    upkeep: u64,
    leaderless: Duration,
    two_leaders: Duration,
    runs_with_two: u64,
    /// First seed with two leaders.
    pub(super) two_leaders_in: Option<u64>,
}

impl Row {
    pub(super) fn new(election: Election) -> Self {
        Self {
            election,
            runs: 0,
            simulated: Duration::ZERO,
            faults: 0,
            heals: Lengths::default(),
            elections: 0,
            messages: 0,
            upkeep: 0,
            leaderless: Duration::ZERO,
            two_leaders: Duration::ZERO,
            runs_with_two: 0,
            two_leaders_in: None,
        }
    }

    pub(super) fn add(&mut self, seed: u64, run: &Run) {
        self.runs += 1;
        self.simulated += run.simulated;
        self.faults += run.faults;
        run.heals.iter().for_each(|length| self.heals.add(*length));
        self.elections += run.elections;
        self.messages += run.messages;
        self.upkeep += run.upkeep;
        self.leaderless += run.leaderless;
        self.two_leaders += run.two_leaders;
        if run.two_leaders_at.is_some() {
            self.runs_with_two += 1;
            self.two_leaders_in.get_or_insert(seed);
        }
    }

    fn cells(&self) -> [String; COLUMNS] {
        let length = |length: Option<Duration>| length.map_or("-".to_owned(), seconds);
        let two = if self.runs_with_two == 0 { "never".to_owned() } else { seconds(self.two_leaders) };
        [
            self.election.to_string(),
            length(self.heals.median()),
            length(self.heals.worst()),
            ratio(self.messages, self.elections),
            ratio(self.upkeep * 60, self.simulated.as_secs()),
            two,
            grouped(self.runs_with_two),
            seconds(self.leaderless),
        ]
    }
}

const COLUMNS: usize = 8;
const HEAD: [[&str; COLUMNS]; 2] = [
    ["", "time to heal", "", "messages", "at rest,", "two", "", "no"],
    ["election", "median", "worst", "an election", "a minute", "leaders", "in runs", "leader"],
];

/// The table, under a line about its runs.
pub(super) fn text(scene: &Scene, rows: &[Row]) -> String {
    let setting = &scene.setting;
    let (runs, faults) = rows.first().map_or((0, 0), |row| (row.runs, row.faults));
    let mut text = format!(
        "{} of {}, {} s with faults and {} s without; faults ({}): {}\n\n",
        plural(runs, "run"),
        plural(u64::from(setting.nodes), "node"),
        grouped(setting.length.as_secs()),
        setting.rest.as_secs(),
        scene.faults(),
        grouped(faults),
    );
    let cells: Vec<[String; COLUMNS]> =
        HEAD.iter().map(|line| line.map(str::to_owned)).chain(rows.iter().map(Row::cells)).collect();
    for line in &cells {
        for (column, cell) in line.iter().enumerate() {
            let width = cells.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
            match column {
                0 => text.push_str(&format!("{cell:<width$}")),
                _ => text.push_str(&format!("  {cell:>width$}")),
            }
        }
        text.push('\n');
    }
    text.push_str(
        "\nTimes are true times, the last three columns sums over all runs. A silence counts as a failure after 10 s; the naive\n\
         lease lives for 30 s. Messages between nodes, or operations of the store. No election but ours promises one leader at\n\
         an instant.\n",
    );
    text
}

fn plural(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// A length in seconds, but never none at all.
fn seconds(length: Duration) -> String {
    match length.as_millis() {
        0 => "0.0 s".to_owned(),
        1..100 => format!("{:.3} s", length.as_secs_f64()),
        100.. => format!("{}.{} s", grouped(length.as_secs()), length.subsec_millis() / 100),
    }
}

/// A ratio with one decimal place.
fn ratio(dividend: u64, divisor: u64) -> String {
    let tenths = dividend * 10 / divisor.max(1);
    format!("{}.{}", grouped(tenths / 10), tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_ratios_are_readable() {
        let lengths = [0, 3, 10_250, 1_234_500].map(|millis| seconds(Duration::from_millis(millis)));
        assert_eq!(lengths, ["0.0 s", "0.003 s", "10.2 s", "1,234.5 s"]);
        assert_eq!([(7, 2), (0, 0), (25_000, 1)].map(|(one, other)| ratio(one, other)), ["3.5", "0.0", "25,000.0"]);
    }
}
