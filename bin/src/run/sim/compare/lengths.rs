//! Many lengths of time in little memory.

use core::time::Duration;
use std::collections::BTreeMap;

/// Lengths of time, to a hundredth of a second.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths {
    counts: BTreeMap<u128, u64>,
    count: u64,
}

const GRAIN_MS: u128 = 10;

impl Lengths {
    pub(super) fn add(&mut self, length: Duration) {
        *self.counts.entry(length.as_millis() / GRAIN_MS).or_default() += 1;
        self.count += 1;
    }

    pub(super) fn median(&self) -> Option<Duration> {
        let mut below = 0;
        let (length, _) = self.counts.iter().find(|(_, count)| {
            below += **count;
            below * 2 >= self.count
        })?;
        Some(Self::duration(*length))
    }

    pub(super) fn worst(&self) -> Option<Duration> {
        self.counts.keys().next_back().map(|length| Self::duration(*length))
    }

    fn duration(length: u128) -> Duration {
        Duration::from_millis(u64::try_from(length * GRAIN_MS).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle_and_the_worst_at_the_end() {
        let mut lengths = Lengths::default();
        assert_eq!((lengths.median(), lengths.worst()), (None, None));
        for millis in [9_000, 20, 500, 500, 31_000] {
            lengths.add(Duration::from_millis(millis));
        }
        assert_eq!(lengths.median(), Some(Duration::from_millis(500)));
        assert_eq!(lengths.worst(), Some(Duration::from_secs(31)));
    }
}
