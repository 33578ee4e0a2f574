//! Memory that an exploration may take.

use bytesize::ByteSize;
use rolecall_model::memory;

use crate::cli::{Failure, Memory};

/// Taken where the system does not tell what it has.
const UNKNOWN: u64 = 2 << 30;

/// Memory that this process may take up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget(ByteSize);

impl Budget {
    /// The amount that was asked for, or half of what is available.
    pub(super) fn new(asked: Option<Memory>) -> Self {
        let half = || ByteSize(memory::available().map_or(UNKNOWN, |bytes| bytes / 2));
        Self(asked.map_or_else(half, |asked| asked.0))
    }

    pub(super) fn bytes(self) -> u64 {
        self.0.as_u64()
    }

    /// True once this process takes up more.
    pub(super) fn is_spent(self) -> bool {
        memory::in_use().is_some_and(|in_use| in_use > self.bytes())
    }

    /// The part that is taken up, for people.
    pub(super) fn told(self, in_use: Option<u64>) -> String {
        match in_use {
            Some(bytes) => format!("{} of {self} of memory", ByteSize(bytes)),
            None => format!("{self} of memory"),
        }
    }

    /// The failure of a command that this was not enough for.
    pub(super) fn exceeded(self) -> Failure {
        Failure::Unfinished(format!(
            "stopped before the end: {self} of memory are full; --memory {} gives it more",
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
