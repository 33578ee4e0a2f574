//! Answer times of an engine under a load.

use core::fmt;
use core::time::Duration;
use std::time::Instant;

use crate::Outcome;
use crate::questions::Unasked;

/// Clients that ask at the same time, each the next question as soon as its last one is answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) clients: usize,
    pub(crate) length: Duration,
}

/// Answer times of one load.
#[derive(Clone, Debug)]
pub(crate) struct Latencies {
    pub(crate) median: Duration,
    pub(crate) percentile_99: Duration,
    pub(crate) per_second: f64,
}

impl Latencies {
    /// Summary of `times`, which took `whole` together.
    pub(crate) fn of(mut times: Vec<Duration>, whole: Duration) -> Outcome<Self> {
        times.sort_unstable();
        let at = |percent: usize| times.get((times.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        Ok(Self {
            median: at(50).ok_or("no question was answered")?,
            percentile_99: at(99).ok_or("no question was answered")?,
            per_second: times.len() as f64 / whole.as_secs_f64(),
        })
    }

    /// Measures an engine that is a library: its clients are threads of this process.
    pub(crate) fn on_threads(load: Load, unasked: &Unasked, ask: &(dyn Fn(&str) + Sync)) -> Outcome<Self> {
        let begun = Instant::now();
        let client = || {
            let mut times = Vec::new();
            while begun.elapsed() < load.length {
                let question = unasked.next();
                let asked = Instant::now();
                ask(question);
                times.push(asked.elapsed());
            }
            times
        };
        let times = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..load.clients).map(|_| scope.spawn(client)).collect();
            clients.into_iter().map(|client| client.join().expect("a client does not panic")).collect::<Vec<_>>()
        });
        Self::of(times.into_iter().flatten().collect(), begun.elapsed())
    }
}

impl fmt::Display for Latencies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        write!(formatter, "{:.2} ms / {:.2} ms / {:.0}", ms(self.median), ms(self.percentile_99), self.per_second)
    }
}
