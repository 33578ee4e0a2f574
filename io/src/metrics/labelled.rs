//! Family of metrics that takes no lock.

use core::fmt;
use std::sync::{Arc, OnceLock};

use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// Metrics that differ in the value of one label. The values are few and never go away, so they stand in a list that only
/// grows: a thread that counts never waits for one that scrapes, as it would with the library's own family.
pub(super) struct Labelled<M> {
    label: &'static str,
    make: fn() -> M,
    first: Arc<Place<M>>,
}

/// Place for an entry of the list; empty at its end.
type Place<M> = OnceLock<Box<Entry<M>>>;

struct Entry<M> {
    value: &'static str,
    metric: M,
    next: Place<M>,
}

impl<M> Labelled<M> {
    pub(super) fn new(label: &'static str, make: fn() -> M) -> Self {
        Self { label, make, first: Arc::new(OnceLock::new()) }
    }

    /// Metric whose label has this value.
    pub(super) fn of(&self, value: &'static str) -> &M {
        let mut place = &*self.first;
        loop {
            let entry = place.get_or_init(|| Box::new(Entry { value, metric: (self.make)(), next: OnceLock::new() }));
            if entry.value == value {
                return &entry.metric;
            }
            place = &entry.next;
        }
    }

    fn entries(&self) -> impl Iterator<Item = &Entry<M>> {
        core::iter::successors(self.first.get(), |entry| entry.next.get()).map(|entry| &**entry)
    }
}

impl<M> Clone for Labelled<M> {
    fn clone(&self) -> Self {
        Self { label: self.label, make: self.make, first: Arc::clone(&self.first) }
    }
}

impl<M: fmt::Debug> fmt::Debug for Labelled<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.entries().map(|entry| (entry.value, &entry.metric))).finish()
    }
}

impl<M: EncodeMetric + TypedMetric> EncodeMetric for Labelled<M> {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        let mut entries: Vec<&Entry<M>> = self.entries().collect();
        entries.sort_by_key(|entry| entry.value);
        entries.iter().try_for_each(|entry| entry.metric.encode(encoder.encode_family(&[(self.label, entry.value)])?))
    }

    fn metric_type(&self) -> MetricType {
        M::TYPE
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::prometheus_text;
    use prometheus_client::metrics::counter::Counter;
    use prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn each_value_has_a_metric_of_its_own_in_the_order_of_the_values() {
        let falls: Labelled<Counter> = Labelled::new("kind", Counter::default);
        for kind in ["snow", "rain", "snow", "hail", "snow"] {
            falls.of(kind).inc();
        }
        let mut registry = Registry::default();
        registry.register("falls", "Falls", falls);
        let mut text = String::new();

        prometheus_text::encode(&mut text, &registry).expect("a string takes all that is written");

        let expected = [
            "# HELP falls_total Falls.",
            "# TYPE falls_total counter",
            "falls_total{kind=\"hail\"} 1",
            "falls_total{kind=\"rain\"} 1",
            "falls_total{kind=\"snow\"} 3",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
