//! What a process uses, from `/proc`.

use core::time::Duration;
use std::fs;

use crate::Outcome;

/// Unit of the times in `/proc` (`USER_HZ`), the same on every Linux.
const TICKS_PER_SECOND: u64 = 100;

/// Time that a process has had the processor.
pub(crate) fn processor_time(process: u32) -> Outcome<Duration> {
    let line = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The fields follow the name, which is in parentheses: the state is the third of all, utime and stime the 14th and 15th (proc(5)).
    let fields: Vec<_> = line.rsplit_once(") ").ok_or("a process has a name")?.1.split(' ').collect();
    let ticks: u64 =
        fields.get(11..13).ok_or("a process has times")?.iter().flat_map(|ticks| ticks.parse::<u64>()).sum();
    Ok(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

/// Memory of a process in MiB: all that is resident, and what of it is not a file.
pub(crate) fn memory(process: u32) -> Outcome<(u64, u64)> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.map(|kib| kib / 1024).ok_or_else(|| format!("a process has {name}"))
    };
    Ok((field("VmRSS")?, field("RssAnon")?))
}
