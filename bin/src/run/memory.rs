//! Memory budget of an exploration.

use bytesize::ByteSize;
use rolecall_model::memory;

use crate::cli::{Failure, Memory};

/// Budget in bytes if the system does not tell how much memory it has.
const UNKNOWN: u64 = 2 << 30;

/// Memory that this process may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget(ByteSize);

impl Budget {
    /// Makes a budget of the amount asked for. Default: half of the available memory.
    pub(super) fn new(asked: Option<Memory>) -> Self {
        let half = || ByteSize(memory::available().map_or(UNKNOWN, |bytes| bytes / 2));
        Self(asked.map_or_else(half, |asked| asked.0))
    }

    pub(super) fn bytes(self) -> u64 {
        self.0.as_u64()
    }

    /// True once this process uses more than the budget.
    pub(super) fn is_spent(self) -> bool {
        memory::in_use().is_some_and(|in_use| in_use > self.bytes())
    }

    /// Text that says how much of the budget is in use.
    pub(super) fn told(self, in_use: Option<u64>) -> String {
        match in_use {
            Some(bytes) => format!("{} of {self} of memory", ByteSize(bytes)),
            None => format!("{self} of memory"),
        }
    }

    /// Failure of a command that needs more than the budget.
    pub(super) fn exceeded(self) -> Failure {
        Failure::Unfinished(format!(
            "stopped before the end: the {self} of memory are full; give more with --memory {}",
            self.twice()
        ))
    }

    fn twice(self) -> String {
        let mebibytes = self.bytes().div_ceil(1 << 20).saturating_mul(2);
        if mebibytes < 1024 { format!("{mebibytes}MiB") } else { format!("{}GiB", mebibytes.div_ceil(1024)) }
    }
}

impl core::fmt::Display for Budget {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_gives_more_can_be_typed() {
        for (asked, more) in [("100MiB", "--memory 200MiB"), ("600MiB", "--memory 2GiB"), ("4GiB", "--memory 8GiB")] {
            let Failure::Unfinished(told) = Budget::new(asked.parse().ok()).exceeded() else { panic!("it is no end") };
            assert!(told.contains(more), "{told}");
            assert!(more.trim_start_matches("--memory ").parse::<Memory>().is_ok(), "{more}");
        }
    }

    #[test]
    fn a_budget_that_is_not_given_is_less_than_what_the_machine_has() {
        let budget = Budget::new(None);
        assert!(budget.bytes() > 0 && memory::available().is_none_or(|bytes| budget.bytes() < bytes), "{budget}");
        assert!(!Budget::new("1000GiB".parse().ok()).is_spent());
    }
}
