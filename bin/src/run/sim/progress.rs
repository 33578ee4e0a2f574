//! Progress bar for a campaign.

use core::time::Duration;
use std::io::{IsTerminal as _, Write as _, stderr};

use super::summary::{Summary, times};

/// Progress bar on standard error. Shows nothing if that is not a terminal.
pub(super) struct Progress {
    count: u64,
    is_shown: bool,
}

const WIDTH: u64 = 30;

impl Progress {
    pub(super) fn new(count: u64) -> Self {
        Self { count, is_shown: stderr().is_terminal() }
    }

    pub(super) fn show(&mut self, summary: &Summary, took: Duration) {
        if !self.is_shown {
            return;
        }
        let filled = summary.runs * WIDTH / self.count.max(1);
        let bar: String = (0..WIDTH).map(|place| if place < filled { '█' } else { '░' }).collect();
        let speed = times(summary.simulated, took);
        let line = format!("{bar} {} of {} runs, {speed} times real time", summary.runs, self.count);
        // If the terminal is gone, stop drawing the bar.
        self.is_shown = write!(stderr(), "\r{line}\x1b[K").is_ok();
    }

    pub(super) fn clear(&mut self) {
        if self.is_shown {
            self.is_shown = write!(stderr(), "\r\x1b[K").is_ok();
        }
    }
}
