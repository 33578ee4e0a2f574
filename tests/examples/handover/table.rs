//! The hand-overs, as a table in Markdown.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;

use crate::contest::{Kind, Measured};

/// Measurements by number of contenders and kind.
#[derive(Default)]
pub(crate) struct Table(BTreeMap<(usize, Kind), Measured>);

impl Table {
    pub(crate) fn add(&mut self, contenders: usize, kind: Kind, measured: Measured) {
        self.0.insert((contenders, kind), measured);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "| contenders | kind | median | least .. most | against the bare | requests | notices | runs |"
        )?;
        writeln!(formatter, "| --- | --- | --- | --- | --- | --- | --- | --- |")?;
        for ((contenders, kind), measured) in &self.0 {
            let times = sorted(&measured.times);
            let bare = self.0.get(&(*contenders, Kind::Bare)).map(|bare| median(&sorted(&bare.times)));
            let against = bare.map_or(f64::NAN, |bare| median(&times) / bare);
            let (requests, notices) = messages(measured);
            writeln!(
                formatter,
                "| {contenders} | {kind} | {:.1} ms | {:.1} .. {:.1} ms | {against:.2} | {requests} | {notices} | {} |",
                median(&times),
                times.first().copied().unwrap_or(f64::NAN),
                times.last().copied().unwrap_or(f64::NAN),
                times.len(),
            )?;
        }
        Ok(())
    }
}

/// Least numbers of requests and notices: a heartbeat, or a listing that a timer asks for, may fall into one hand-over or the other.
fn messages(measured: &Measured) -> (u64, u64) {
    let requests = measured.counts.iter().map(|count| count.requests).min();
    let notices = measured.counts.iter().map(|count| count.notices).min();
    (requests.unwrap_or(0), notices.unwrap_or(0))
}

/// Times in milliseconds, in order.
pub(crate) fn sorted(times: &[Duration]) -> Vec<f64> {
    let mut times: Vec<_> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// Median of sorted times.
pub(crate) fn median(times: &[f64]) -> f64 {
    let Some(last) = times.len().checked_sub(1) else { return f64::NAN };
    f64::midpoint(times[last / 2], times[last.div_ceil(2)])
}
