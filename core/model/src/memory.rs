//! Memory of this process and of the machine.

use sysinfo::{MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, System, get_current_pid};

/// Bytes of memory that this process takes up; `None` where the system does not tell.
#[must_use]
pub fn in_use() -> Option<u64> {
    memory_stats::memory_stats().map(|stats| stats.physical_mem as u64)
}

/// Bytes of memory that this process may still take without hurting others: what the machine has available, or what is left
/// of this process's control group where that is less. `None` where the system does not tell.
#[must_use]
pub fn available() -> Option<u64> {
    let mut system = System::new().ok()?;
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    let machine = Some(system.available_memory()).filter(|bytes| *bytes > 0);
    machine.into_iter().chain(left_of_group(&mut system)).min()
}

/// The files that the system keeps in memory for a group do not count: it gives them up.
fn left_of_group(system: &mut System) -> Option<u64> {
    let this = get_current_pid().ok()?;
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[this]), false, ProcessRefreshKind::nothing());
    let limits = system.process(this)?.cgroup_limits()?;
    Some(limits.total_memory.saturating_sub(limits.rss))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_that_is_taken_is_seen() {
        const TAKEN: usize = 64 * 1024 * 1024;
        let before = in_use().expect("Linux tells");
        let taken = vec![1_u8; TAKEN];
        let after = in_use().expect("Linux tells");

        assert!(after >= before + taken.len() as u64 * 9 / 10, "{before} and then {after}");
        assert!(available().is_some_and(|bytes| bytes > 0));
    }
}
