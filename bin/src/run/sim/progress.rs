//! Progress bar for a campaign.

use core::time::Duration;
use std::io::{IsTerminal as _, Write as _, stderr};

use rolecall_model::memory;

use super::summary::{Summary, times};
use crate::run::memory::Budget;

/// Progress bar on standard error. Shows nothing if that is not a terminal.
pub(super) struct Progress {
    count: u64,
    budget: Budget,
    is_shown: bool,
}

const WIDTH: u64 = 30;

impl Progress {
    pub(super) fn new(count: u64, budget: Budget) -> Self {
        Self { count, budget, is_shown: stderr().is_terminal() }
    }

    pub(super) fn show(&mut self, summary: &Summary, took: Duration) {
        if !self.is_shown {
            return;
        }
        let filled = summary.runs.saturating_mul(WIDTH) / self.count.max(1);
        let bar: String = (0..WIDTH).map(|place| if place < filled { '█' } else { '░' }).collect();
        let speed = times(summary.simulated, took);
        let memory = self.budget.told(memory::in_use());
        let line = format!("{bar} {} of {} runs, {speed} times real time, {memory}", summary.runs, self.count);
        // If the terminal is gone, stop drawing the bar.
        self.is_shown = write!(stderr(), "\r{line}\x1b[K").is_ok();
    }

    pub(super) fn clear(&mut self) {
        if self.is_shown {
            self.is_shown = write!(stderr(), "\r\x1b[K").is_ok();
        }
    }
}
