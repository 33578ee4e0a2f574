//! Metrics of a node, for operators.
//!
//! The driver's thread only counts, in atomics: it never waits for a scrape. The text is made on the thread that asks for it.

mod cause;
mod histogram;
mod labelled;
mod meter;

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use rolecall_core::{Role, Time};

use self::histogram::Histogram;
use self::labelled::Labelled;
pub(crate) use self::meter::Meter;
use crate::Clock;
use crate::status::{Status, StoreState};

/// Delay from which the node's loop counts as stuck.
const LATE: Duration = Duration::from_secs(10);

/// Metrics of one node.
#[derive(Debug)]
pub(crate) struct Metrics {
    clock: Arc<dyn Clock>,
    /// Gauges of the layers above the driver.
    gauges: Mutex<Vec<Gauge>>,
    events: Labelled<Counter>,
    actions: Labelled<Counter>,
    requests: Labelled<Counter>,
    round_trips: Labelled<Histogram>,
    last_event: AtomicU64,
    /// Time by which the loop wakes again at the latest. While it handles an event, the time at which that began.
    due: AtomicU64,
    terms: Counter,
    terms_ended: Labelled<Counter>,
    validity_left: Histogram,
    leaderless: Histogram,
    fresh_starts: Counter,
    journal_dropped: AtomicU64,
    journal_failures: AtomicU64,
}

/// Number that a layer above the driver can provide at any time.
pub(crate) struct Gauge {
    pub(crate) name: &'static str,
    /// Description, without the full stop at its end.
    pub(crate) help: &'static str,
    pub(crate) value: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl core::fmt::Debug for Gauge {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Gauge").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Bounds of round trips to the store: from a store next door to one that is about to be given up.
const ROUND_TRIPS: &[f64] = &[0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];
/// Bounds of the validity left, for sessions of one second to one minute.
const VALIDITY: &[f64] =
    &[0.0, 0.05, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 60.0];
/// Bounds of the time without a leader: from a planned change to an outage of the store.
const LEADERLESS: &[f64] =
    &[0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0];

impl Metrics {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let now = clock.now().as_nanos();
        Self {
            clock,
            gauges: Mutex::default(),
            events: Labelled::new("kind", Counter::default),
            actions: Labelled::new("kind", Counter::default),
            requests: Labelled::new("kind", Counter::default),
            round_trips: Labelled::new("kind", || Histogram::new(ROUND_TRIPS)),
            last_event: AtomicU64::new(now),
            due: AtomicU64::new(now),
            terms: Counter::default(),
            terms_ended: Labelled::new("cause", Counter::default),
            validity_left: Histogram::new(VALIDITY),
            leaderless: Histogram::new(LEADERLESS),
            fresh_starts: Counter::default(),
            journal_dropped: AtomicU64::new(0),
            journal_failures: AtomicU64::new(0),
        }
    }

    /// Adds a gauge of a layer above the driver.
    #[cfg(feature = "http")]
    pub(crate) fn add(&self, gauge: Gauge) {
        self.gauges().push(gauge);
    }

    fn gauges(&self) -> MutexGuard<'_, Vec<Gauge>> {
        // No code that holds the lock panics halfway through a change, so a poisoned lock is safe to use.
        self.gauges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_on_time(&self) -> bool {
        self.clock.now() < Time::from_nanos(self.due.load(Ordering::Relaxed)) + LATE
    }

    /// Prometheus text, version 0.0.4.
    pub(crate) fn render(&self, status: &Status, leads: bool) -> String {
        let mut registry = Registry::default();
        self.register_counts(&mut registry);
        self.register_terms(&mut registry);
        self.register_present(&mut registry, status, leads);
        for gauge in &*self.gauges() {
            registry.register(gauge.name, gauge.help, ConstGauge::new((gauge.value)()));
        }
        let mut text = String::new();
        prometheus_text::encode(&mut text, &registry).expect("a string takes all that is written");
        text
    }

    // The library appends `_total` to the names of counters, and a full stop to every description.
    fn register_counts(&self, registry: &mut Registry) {
        let events = self.events.clone();
        registry.register("rolecall_events", "Events passed to the node's state machine", events);
        let actions = self.actions.clone();
        registry.register("rolecall_actions", "Actions ordered by the node's state machine", actions);
        registry.register("rolecall_store_requests", "Requests to the coordination store", self.requests.clone());
        let round_trips = self.round_trips.clone();
        let help = "Time from a request to the coordination store until its answer";
        registry.register("rolecall_store_round_trip_seconds", help, round_trips);
        let dropped = ConstCounter::new(self.journal_dropped.load(Ordering::Relaxed));
        registry.register("rolecall_journal_dropped", "Steps missing from the journal", dropped);
        let failures = ConstCounter::new(self.journal_failures.load(Ordering::Relaxed));
        registry.register("rolecall_journal_failures", "Failures to write the journal", failures);
    }

    fn register_terms(&self, registry: &mut Registry) {
        registry.register("rolecall_terms", "Terms of leadership that this node began", self.terms.clone());
        let help = "Terms of leadership of this node that ended, by cause";
        registry.register("rolecall_terms_ended", help, self.terms_ended.clone());
        let help = "Validity that a term had left at the moment of its renewal";
        registry.register("rolecall_term_validity_left_seconds", help, self.validity_left.clone());
        let help = "Time for which this node, having known a leader, knew none";
        registry.register("rolecall_leaderless_seconds", help, self.leaderless.clone());
        let help =
            "Sessions that this node ended because it found a violated promise in itself: each is a bug to report";
        registry.register("rolecall_fresh_starts", help, self.fresh_starts.clone());
    }

    fn register_present(&self, registry: &mut Registry, status: &Status, leads: bool) {
        let last_event = Time::from_nanos(self.last_event.load(Ordering::Relaxed));
        let age = self.clock.now().since(last_event).as_secs_f64();
        registry.register("rolecall_last_event_age_seconds", "Time since the last event", ConstGauge::new(age));
        let mut flag = |name: &str, help: &str, value: bool| {
            registry.register(name, help, ConstGauge::new(u32::from(value)));
        };
        flag("rolecall_leader", "1 while this node's term is valid", leads);
        flag("rolecall_worker", "1 while this node serves as worker", status.role == Role::Worker);
        flag("rolecall_leader_known", "1 while this node knows who leads", status.leader.is_some());
        flag("rolecall_ready", "1 while this node serves its role", status.ready().is_ok());
        let is_connected = status.store == StoreState::Connected;
        flag("rolecall_store_connected", "1 while the node is connected to the store", is_connected);
        let epoch = status.floor.map_or(0, |floor| floor.epoch.0);
        registry.register("rolecall_epoch", "Newest epoch that this node has read about", ConstGauge::new(epoch));
        let workers = u64::try_from(status.workers.members.len()).unwrap_or(u64::MAX);
        registry.register("rolecall_workers", "Workers that this node knows about", ConstGauge::new(workers));
    }
}
