//! Formats times as RFC 3339.

use std::time::SystemTime;

use jiff::Timestamp;

/// Formats `time` in UTC, to the millisecond. A time before the year -9999 or after 9999 is shown as the first of 1970.
pub(super) fn format(time: SystemTime) -> String {
    format!("{:.3}", Timestamp::try_from(time).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn known_points_in_time() {
        for (millis, written) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_709_210_096_789, "2024-02-29T12:34:56.789Z"),
            (1_795_973_972_557, "2026-11-29T17:39:32.557Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(format(UNIX_EPOCH + Duration::from_millis(millis)), written);
        }
    }
}
