//! Histogram that takes no lock.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Arc;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// Histogram of durations. The library's own locks a mutex for each observation and each scrape; here, a thread that observes
/// never waits for one that scrapes.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    /// Upper bounds of the buckets in seconds, in ascending order.
    bounds: &'static [f64],
    counts: Arc<Counts>,
}

#[derive(Debug)]
struct Counts {
    /// Observations in each bucket, not cumulated. The last bucket has no upper bound.
    buckets: Box<[AtomicU64]>,
    sum_ns: AtomicU64,
}

impl Histogram {
    pub(super) fn new(bounds: &'static [f64]) -> Self {
        let buckets = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, counts: Arc::new(Counts { buckets, sum_ns: AtomicU64::new(0) }) }
    }

    pub(super) fn observe(&self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        let bucket = self.bounds.partition_point(|bound| *bound < seconds);
        self.counts.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.counts.sum_ns.fetch_add(nanos, Ordering::Relaxed);
    }
}

impl TypedMetric for Histogram {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for Histogram {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), core::fmt::Error> {
        let bounds = self.bounds.iter().copied().chain([f64::INFINITY]);
        let counts = self.counts.buckets.iter().map(|count| count.load(Ordering::Relaxed));
        let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
        // The sum of what was read, so that the text agrees with itself while somebody observes.
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = Duration::from_nanos(self.counts.sum_ns.load(Ordering::Relaxed)).as_secs_f64();
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::prometheus_text;
    use prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn a_duration_counts_in_every_bucket_whose_bound_it_does_not_exceed() {
        let histogram = Histogram::new(&[0.5, 2.0]);
        for millis in [0, 500, 501, 2_000, 7_000] {
            histogram.observe(Duration::from_millis(millis));
        }
        let mut registry = Registry::default();
        registry.register("wait_seconds", "Wait", histogram);
        let mut text = String::new();

        prometheus_text::encode(&mut text, &registry).expect("a string takes all that is written");

        let expected = [
            "# HELP wait_seconds Wait.",
            "# TYPE wait_seconds histogram",
            "wait_seconds_bucket{le=\"0.5\"} 2",
            "wait_seconds_bucket{le=\"2\"} 4",
            "wait_seconds_bucket{le=\"+Inf\"} 5",
            "wait_seconds_sum 10.001",
            "wait_seconds_count 5",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
